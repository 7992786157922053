"""Files from elsewhere: damaged ones are refused by name, and nothing in them is ever run."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from monsterzoo.cli import main
from monsterzoo.envs import VectorGame, variant
from monsterzoo.policies.networks import WEIGHTS
from monsterzoo.policies.networks import files as weights_files
from monsterzoo.policies.networks.policy import make as make_net_policy
from monsterzoo.training.algorithms import network as networks
from monsterzoo.training.algorithms.network import Network
from monsterzoo.training.algorithms.ppo import PPOTrainer
from monsterzoo.training.arena import Tournament, enter
from monsterzoo.training.runs.config import RUN, PPOConfig
from monsterzoo.training.runs.run import CHECKPOINT
from nim import NIM

from tools.variants import NamedVariant
from tools.zoo import publish

CONFIG = PPOConfig(
    game="nim_v0", num_envs=8, steps=16, minibatch=64, width=8, imitate="", opponents=["past"], evaluate=[], updates=2
)


class Hostile:
    """Creates a file when somebody unpickles it."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return (Path.touch, (self.marker,))


@pytest.fixture
def marker(tmp_path: Path) -> Iterator[Path]:
    """The file that is there once a hostile pickle was run."""
    path = tmp_path / "run by a file"
    pickle.loads(pickle.dumps(Hostile(path)))
    assert path.exists(), "the pickle is hostile indeed"
    path.unlink()
    yield path
    assert not path.exists()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def flip(path: Path) -> None:
    """Turn one bit in the middle of the largest array of an archive: numbers as good as those before."""
    with zipfile.ZipFile(path) as archive:
        arrays = (info for info in archive.infolist() if not info.filename.endswith(".pkl"))
        largest = max(arrays, key=lambda info: info.compress_size)
    data = bytearray(path.read_bytes())
    header = data[largest.header_offset :]
    begin = (
        largest.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    )
    data[begin + largest.compress_size // 8 * 4] ^= 1
    path.write_bytes(data)


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage")


DAMAGES = pytest.mark.parametrize("damage", [cut, flip, garbage, lambda path: path.write_bytes(b"")])


# --- Checkpoints ---


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A checkpoint after one update."""
    folder = tmp_path_factory.mktemp("trained")
    trainer = PPOTrainer(CONFIG, NIM)
    trainer.update()
    trainer.save(folder)
    return (folder / CHECKPOINT).read_bytes()


def restore(folder: Path, config: PPOConfig = CONFIG) -> None:
    PPOTrainer(config, NIM).restore(folder)


@DAMAGES
def test_a_damaged_checkpoint_is_refused(trained: bytes, damage: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / CHECKPOINT
    path.write_bytes(trained)
    restore(tmp_path)
    damage(path)
    with pytest.raises(ValueError, match=r"checkpoint\.pt is not a checkpoint of this run, or it is damaged: "):
        restore(tmp_path)


def _nan(content: dict[str, Any]) -> None:
    content["network"]["stem.weight"][0, 0] = torch.nan


def _other_shape(content: dict[str, Any]) -> None:
    content["network"]["policy.bias"] = torch.zeros(7)


def _no_network(content: dict[str, Any]) -> None:
    del content["network"]


def _other_type(content: dict[str, Any]) -> None:
    content["pool"][0]["value.bias"] = content["pool"][0]["value.bias"].double()


def _infinite_moment(content: dict[str, Any]) -> None:
    content["optimizer"][0]["exp_avg"][0] = torch.inf


def _negative_step(content: dict[str, Any]) -> None:
    content["optimizer"][0]["step"] -= 100


def _negative_square(content: dict[str, Any]) -> None:
    content["optimizer"][1]["exp_avg_sq"][0] = -1e-9


def _no_moment(content: dict[str, Any]) -> None:
    del content["optimizer"][0]["exp_avg"]


def _huge_weight(content: dict[str, Any]) -> None:
    content["network"]["policy.bias"][1] = 1e30


def _huge_earlier_weight(content: dict[str, Any]) -> None:
    content["pool"][0]["blocks.0.first.weight"][0, 0] = -1.1e6


def _huge_value(content: dict[str, Any]) -> None:
    content["buffer"]["values"][0] = 3e38


def _more_than_certain(content: dict[str, Any]) -> None:
    content["buffer"]["log_probs"][0] = 0.1


def _huge_reward(content: dict[str, Any]) -> None:
    content["buffer"]["rewards"][0] = -1e7


def _no_such_row(content: dict[str, Any]) -> None:
    content["buffer"]["open"][:] = 1 << 40


def _no_such_opponent(content: dict[str, Any]) -> None:
    content["games"]["seating"][0, 0] = 1


def _nothing_to_learn(content: dict[str, Any]) -> None:
    content["games"]["seating"][0] = 0


def _negative_length(content: dict[str, Any]) -> None:
    content["games"]["lengths"][0] = -1


def _no_pool(content: dict[str, Any]) -> None:
    content["pool"] = []


def _negative(content: dict[str, Any]) -> None:
    content["progress"]["updates"] = -1


def _truth_value(content: dict[str, Any]) -> None:
    content["progress"]["updates"] = True


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_nan, r"stem\.weight of the network has numbers beyond"),
        (_other_shape, r"policy\.bias of the network is torch\.float32 \(7,\), not torch\.float32 \(3,\)"),
        (_no_network, "it lacks 'network'"),
        (_other_type, r"value\.bias of the network is torch\.float64"),
        (_infinite_moment, "exp_avg of the optimizer has numbers beyond"),
        (_negative_step, r"checkpoint\.pt .* step of the optimizer has numbers beyond 0 to"),
        (_negative_square, r"checkpoint\.pt .* exp_avg_sq of the optimizer has numbers beyond 0 to"),
        (_no_moment, "the optimizer has other parts: exp_avg"),
        (_huge_weight, r"checkpoint\.pt .* policy\.bias of the network has numbers beyond -1e\+06 to 1e\+06"),
        (_huge_earlier_weight, r"blocks\.0\.first\.weight of the network has numbers beyond -1e\+06 to 1e\+06"),
        (_huge_value, r"values of the buffer has numbers beyond -1e\+06 to 1e\+06"),
        (_huge_reward, r"rewards of the buffer has numbers beyond -1e\+06 to 1e\+06"),
        (_more_than_certain, "log_probs of the buffer has numbers beyond .* to 0"),
        (_no_such_row, "open of the buffer has numbers beyond -1 to"),
        (_no_such_opponent, "seating of the games has numbers beyond -1 to 0"),
        (_nothing_to_learn, "seating has games that the network does not play"),
        (_negative_length, "lengths of the games has numbers beyond 0 to"),
        (_negative, "updates is -1"),
        (_truth_value, "updates is True"),
        (_no_pool, "there are 1 to 16 earlier networks in a checkpoint"),
    ],
)
def test_a_checkpoint_that_makes_no_sense_is_refused(
    trained: bytes, change: Callable[[dict[str, Any]], None], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / CHECKPOINT
    path.write_bytes(trained)
    content = torch.load(path, weights_only=True)
    change(content)
    torch.save(content, path)
    with pytest.raises(ValueError, match=problem):
        restore(tmp_path)


def test_a_magnet_beyond_all_measure_is_refused(tmp_path: Path) -> None:
    config = replace(CONFIG, magnet_coef=0.1)
    trainer = PPOTrainer(config, NIM)
    trainer.update()
    trainer.save(tmp_path)
    restore(tmp_path, config)
    content = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    content["magnet"]["policy.bias"][0] = 1e7
    torch.save(content, tmp_path / CHECKPOINT)
    with pytest.raises(ValueError, match=r"policy\.bias of the magnet has numbers beyond"):
        restore(tmp_path, config)


def test_open_decisions_that_were_nearly_impossible_do_no_harm(trained: bytes, tmp_path: Path) -> None:
    """A teacher may choose what the network would never have chosen."""
    content = torch.load(io.BytesIO(trained), weights_only=True)
    content["buffer"]["log_probs"][:] = -1000
    torch.save(content, tmp_path / CHECKPOINT)
    trainer = PPOTrainer(CONFIG, NIM)
    trainer.restore(tmp_path)
    trainer.update()
    assert all(torch.isfinite(values).all() for values in trainer.network.parameters())


def test_a_checkpoint_of_another_network_is_refused(trained: bytes, tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(trained)
    with pytest.raises(ValueError, match=r"stem\.weight of the network is .*\(8, .*not .*\(16, "):
        restore(tmp_path, replace(CONFIG, width=16))


def test_no_code_in_a_checkpoint_is_run(marker: Path, tmp_path: Path) -> None:
    path = tmp_path / CHECKPOINT
    for write in (torch.save, lambda content, path: path.write_bytes(pickle.dumps(content))):
        write({"network": Hostile(marker)}, path)
        with pytest.raises(ValueError, match="is not a checkpoint of this run"):
            restore(tmp_path)


def test_positions_that_cannot_be_are_not_learned_from(tmp_path: Path) -> None:
    """Kernels trust the games they play: a card that lies in two places must not get that far."""
    config = replace(CONFIG, game="pikit_v0")
    trainer = PPOTrainer(config)
    trainer.update()
    trainer.save(tmp_path)
    PPOTrainer(config).restore(tmp_path)
    content = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    states = content["games"]["states"].numpy().view(trainer.variant.game.rules.record)
    for field, value in (("known", 1), ("centre", 1 << 40), ("low", 7), ("turn_player", 9), ("secret", 0xFFFF)):
        before = states[field].copy()
        states[field][3] = value
        torch.save(content, tmp_path / CHECKPOINT)
        with pytest.raises(ValueError, match=r"checkpoint\.pt .* state 3 is no position of pikit_v0"):
            PPOTrainer(config).restore(tmp_path)
        states[field] = before


# --- Networks ---


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A network's file."""
    path = tmp_path / WEIGHTS
    networks.write(path, Network.for_variant(NIM.variant(), 32, 1), NIM.variant())
    return path


def play(path: Path) -> None:
    make_net_policy(NIM.variant(), str(path), 0)


@DAMAGES
def test_a_damaged_network_is_refused(weights: Path, damage: Callable[[Path], None]) -> None:
    play(weights)
    damage(weights)
    with pytest.raises(ValueError, match=r"policy\.npz is not a file of network weights, or it is damaged: "):
        play(weights)


@pytest.mark.parametrize(
    ("key", "values", "problem"),
    [
        ("stem.bias", np.full(32, np.nan, np.float32), "stem.bias has numbers that are not finite"),
        ("stem.bias", np.full(32, 1e30, np.float32), "stem.bias has numbers beyond 1,000,000"),
        ("stem.bias", np.full(32, -1000064, np.float32), "stem.bias has numbers beyond 1,000,000"),
        ("stem.bias", np.full(32, np.inf, np.float16), "stem.bias has numbers that are not finite"),
        ("stem.bias", np.full(32, -np.inf, np.float16), "stem.bias has numbers that are not finite"),
        ("stem.bias", np.zeros(32, np.int64), "stem.bias is int64, not float16 or float32"),
        ("stem.bias", np.zeros(31, np.float32), r"another shape: stem.bias is \(31,\), not \(32,\)"),
        ("policy.weight", np.zeros((5, 32), np.float32), r"policy.weight is \(5, 32\), not \(3, 32\)"),
        ("blocks.7.first.weight", np.zeros((32, 32), np.float32), "other layers than a network: blocks.1"),
        ("stem.weight", None, "no weights of a first layer"),
        ("stem.weight", np.zeros((0, 24), np.float32), "no weights of a first layer"),
        ("value.bias", np.zeros((), np.float32), r"value.bias is \(\), not \(1,\)"),
    ],
)
def test_a_network_that_cannot_play_is_refused_when_it_is_loaded(
    weights: Path, key: str, values: np.ndarray | None, problem: str
) -> None:
    arrays, about = weights_files.read(weights)
    arrays.pop(key, None)
    weights_files.write(weights, arrays if values is None else {**arrays, key: values}, about)
    with pytest.raises(ValueError, match=problem):
        play(weights)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [np.float16([65504, -65504]), np.float32([1e6, -1e6])])
def test_a_network_with_the_largest_weights_plays(weights: Path, values: np.ndarray) -> None:
    arrays, about = weights_files.read(weights)
    weights_files.write(weights, {key: np.resize(values, array.shape) for key, array in arrays.items()}, about)
    games = VectorGame(NIM, 4, seed=1)
    player = make_net_policy(games.variant, str(weights), 0)
    for _ in range(20):
        games.step(player.act(games.decisions()))


@pytest.mark.parametrize("about", [[], {"game": "nim_v0"}, {"game": "nim_v0", "layout": 3, "actions": 3}])
def test_a_network_says_what_it_is_for(weights: Path, about: Any) -> None:
    weights_files.write(weights, weights_files.read(weights)[0], about)
    with pytest.raises(ValueError, match="is not a file of network weights"):
        play(weights)


def test_no_code_in_a_network_is_run(weights: Path, marker: Path) -> None:
    hostile = np.empty(1, dtype=object)
    hostile[0] = Hostile(marker)
    with weights.open("wb") as file:
        np.savez(file, about=hostile)
    with pytest.raises(ValueError, match="is not a file of network weights"):
        play(weights)
    weights.write_bytes(pickle.dumps(hostile[0]))
    with pytest.raises(ValueError, match="is not a file of network weights"):
        play(weights)


# --- Results of tournaments ---


def tournament() -> Tournament:
    one = variant("pikit_v0", players=2)
    return Tournament(one, enter(one, ["random", "random"])[0])


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A file of results."""
    games = tournament()
    games._make_room(50)
    games.done[:], games.shares[:, :, 0] = True, 1
    games.scores[:] = np.random.default_rng(0).integers(50, size=games.scores.shape)  # large enough to be cut
    games.save(tmp_path / "results.npz")
    return tmp_path / "results.npz"


@DAMAGES
def test_damaged_results_are_refused(results: Path, damage: Callable[[Path], None]) -> None:
    tournament().load(results)
    damage(results)
    with pytest.raises(ValueError, match=r"results\.npz is not a file of tournament results, or it is damaged: "):
        tournament().load(results)


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("shares", np.full((50, 2, 2), np.nan), "results that no game has"),
        ("scores", np.full((50, 2, 2), np.inf), "results that no game has"),
        ("scores", np.zeros((50, 2, 3)), "scores is float64"),
        ("done", np.zeros((50, 2)), "done is float64"),
        ("done", np.array(True), "done is bool"),
        ("identity", np.array("[]"), "does not say what was played"),
        ("identity", np.array("{"), "damaged"),
        ("shares", None, "shares is not a file in the archive"),
    ],
)
def test_results_that_make_no_sense_are_refused(
    results: Path, name: str, values: np.ndarray | None, problem: str
) -> None:
    with np.load(results) as file:
        arrays = {key: file[key] for key in file.files if key != name}
    np.savez(results, **(arrays if values is None else {**arrays, name: values}))
    with pytest.raises(ValueError, match=problem):
        tournament().load(results)


def test_no_code_in_results_is_run(results: Path, marker: Path) -> None:
    hostile = np.empty(1, dtype=object)
    hostile[0] = Hostile(marker)
    np.savez(results, identity=hostile, shares=hostile, scores=hostile, done=hostile)
    with pytest.raises(ValueError, match="not a file of tournament results"):
        tournament().load(results)
    results.write_bytes(pickle.dumps(hostile[0]))
    with pytest.raises(ValueError, match="not a file of tournament results"):
        tournament().load(results)


# --- Whatever a command reads ---


@pytest.mark.parametrize(
    "words",
    [
        "replay FILE", "watch --record FILE", "analyse pikit_v0 --snapshot FILE", "train --resume --out FOLDER",
        "exploit pikit_v0 --policy random --out FOLDER", "exploit pikit_v0 --policy net:FILE --out FOLDER/new",
        "arena pikit_v0 --policies random random --games 2 --quiet --output FOLDER/result",
        "arena pikit_v0 --policies random search:2,net=net:FILE --games 2 --quiet",
        "train pikit_v0 --start net:FILE --out FOLDER/new",
    ],
)  # fmt: skip
def test_no_command_runs_code_in_a_file(
    words: str, marker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("hostile", RUN, CHECKPOINT, "result.npz"):
        (tmp_path / name).write_bytes(pickle.dumps(Hostile(marker)))
    filled = words.replace("FILE", str(tmp_path / "hostile")).replace("FOLDER", str(tmp_path))
    assert main(filled.split()) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert str(tmp_path) in error.splitlines()[-1], "before it there may be a line about compiling"


# --- Descriptions of runs ---


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not the description of a run, or it is damaged"),
        ('{"config": {"game"', "is not the description of a run, or it is damaged"),
        ("[]", "it holds no JSON object"),
        ("{}", "'config' or its 'game' is missing"),
        ('{"config": {}}', "'config' or its 'game' is missing"),
        ('{"config": {"game": "nim_v0", "colour": 3}}', "options that this version does not know: colour"),
        ('{"config": {"game": "nim_v0", "gamma": NaN}}', r"run\.json: gamma=nan is not allowed; allowed: a number"),
        ('{"config": {"game": "nim_v0", "width": "wide"}}', r"run\.json: width='wide' is not allowed"),
    ],
)
def test_a_damaged_description_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / RUN).write_text(text)
    with pytest.raises(ValueError, match=problem) as refused:
        PPOConfig.read(tmp_path / RUN)
    assert str(tmp_path / RUN) in str(refused.value)


def test_an_unfinished_run_is_not_published(tmp_path: Path) -> None:
    (tmp_path / RUN).write_text(json.dumps({"config": CONFIG.to_dict()}))
    with pytest.raises(ValueError, match="is not finished"):
        publish(NamedVariant(NIM.name, {"players": 2}), [tmp_path], 2, tmp_path / "shipped")
