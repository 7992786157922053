"""Games as data: what is regenerated is what was played, and damaged files are refused."""

import json
import os
import signal

import numpy as np
import pytest
from monsterzoo.cli import main
from monsterzoo.envs import env_seed, make_raw, variant
from monsterzoo.envs.version import VERSION
from monsterzoo.policies import make
from needs import needs

pa = needs("pyarrow")
import pyarrow.parquet as pq
from monsterzoo.training.data import GameFile, record_games, recording
from monsterzoo.training.data.replaying import KEY, SCHEMA

VARIANTS = [
    ("yokai_septet_v0", {"players": 2}),
    ("pikit_v0", {"players": 3, "reward": "score"}),
    ("bite_night_v0", {"players": 3}),
]


@pytest.fixture
def small(tmp_path):
    """A file of 30 games of Pikit in three row groups."""
    path = tmp_path / "games.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "CHUNK", 10)
        record_games(path, variant("pikit_v0", players=2), ["random", "heuristic"], 30, seed=5)
    return path


@pytest.mark.parametrize(("game_name", "own"), VARIANTS)
def test_samples_are_what_the_environment_shows_and_pays(game_name, own, tmp_path):
    one = variant(game_name, **own)
    path = tmp_path / "games.parquet"
    assert record_games(path, one, ["random", "heuristic"], 3, seed=7) == 3
    file = GameFile(path)
    assert (len(file), file.variant.options, file.policies) == (3, one.options, ["random", "heuristic"])
    (samples,) = file.samples(states=True, history=4)
    assert samples.values is None
    for game in range(3):
        env = make_raw(game_name, history=4, **own)
        env.reset(seed=env_seed(7, game))
        rows = np.flatnonzero(samples.games == game)
        gained = {seat: [] for seat in range(one.players)}
        for row in rows:
            seat, action = int(samples.seats[row]), int(samples.actions[row])
            agent = f"player_{seat}"
            assert env.agent_selection == agent
            seen = env.observe(agent)
            assert seen["observation"].tobytes() == samples.observations[row].tobytes()
            assert seen["action_mask"].tobytes() == samples.action_masks[row].tobytes()
            assert (seen["history"] == samples.history[row]).all()
            assert one.snapshot(samples.states[row]) == env.snapshot()
            assert samples.policies[row] == (seat % one.sides + game) % 2
            gained[seat].append((row, 0.0))
            env.step(action)
            for other, told in gained.items():
                if told:
                    told[-1] = (told[-1][0], told[-1][1] + env.rewards[f"player_{other}"])
        assert env.snapshot()["over"]
        for told in gained.values():
            numbers = [row for row, _ in told]
            paid = np.array([reward for _, reward in told], np.float32)
            assert np.allclose(samples.rewards[numbers], paid)
            assert np.allclose(samples.returns[numbers], paid[::-1].cumsum()[::-1], atol=1e-5)
            assert samples.last[numbers].tolist() == [False] * (len(told) - 1) + [True]


def test_row_groups_add_up_and_do_not_depend_on_their_size(small, tmp_path):
    file, whole = GameFile(small), tmp_path / "whole.parquet"
    record_games(whole, file.variant, ["random", "heuristic"], 30, seed=5)
    assert (file.groups, GameFile(whole).groups) == (3, 1)
    (all_at_once,) = GameFile(whole).samples()
    parts = list(file.samples())
    for name in ("observations", "actions", "rewards", "games", "policies"):
        assert (np.concatenate([getattr(one, name) for one in parts]) == getattr(all_at_once, name)).all()
    (last,) = file.samples([2])
    assert (last.actions == parts[2].actions).all()


def test_values_are_those_of_the_search(tmp_path):
    path = tmp_path / "games.parquet"
    one = variant("pikit_v0", players=2)
    record_games(path, one, ["random"], 2, values="search:20")
    (samples,) = GameFile(path).samples()
    assert samples.values.shape == samples.actions.shape
    assert ((samples.values >= 0) & (samples.values <= 1)).all()
    late = samples.last  # by then the winner is mostly clear
    assert np.corrcoef(samples.values[late], samples.returns[late])[0, 1] > 0


def test_a_file_tells_what_was_played_and_who_sat_where(small):
    described = json.loads(pq.ParquetFile(small).schema_arrow.metadata[KEY])
    assert described == {
        "format": 1, "version": VERSION, "game": "pikit_v0", "options": GameFile(small).variant.options, "seed": 5,
        "policies": ["random", "heuristic"], "values": None,
    }  # fmt: skip
    table = pq.read_table(small)
    assert table["seed"].to_pylist() == [env_seed(5, game) for game in range(30)]
    assert table["seating"].to_pylist() == [[game % 2, (game + 1) % 2] for game in range(30)]
    assert table["values"].to_pylist() == [[]] * 30
    assert all(sum(returns) == 0 for returns in table["returns"].to_pylist())
    won = [
        returns[seating.index(1)] for returns, seating in zip(*(table[c].to_pylist() for c in ("returns", "seating")))
    ]
    assert sum(won) > 15, "the heuristic beats the random player"


def test_progress_is_told_after_every_chunk_and_searches_value_each_decision(monkeypatch, tmp_path):
    monkeypatch.setattr(recording, "CHUNK", 2)
    path, one, told = tmp_path / "games.parquet", variant("pikit_v0", players=2, max_turns=4), []
    assert record_games(path, one, ["random"], 5, seed=2, values="search:12", progress=told.append) == 5
    assert told == [2, 4, 5]
    file, search = GameFile(path), make("search:12", "pikit_v0", seed=2, players=2, max_turns=4)
    assert [file._file.metadata.row_group(k).num_rows for k in range(file.groups)] == [2, 2, 1]
    for samples in file.samples(states=True):
        wanted = search.search(samples.observations, samples.seats, samples.states).root_values
        np.testing.assert_allclose(samples.values, wanted, rtol=1e-6)


def test_the_command_writes_the_same_file(small, tmp_path, capsys):
    path = tmp_path / "by_command.parquet"
    words = "record pikit_v0 --players 2 --policies random heuristic --games 30 --seed 5 --out"
    assert main([*words.split(), str(path)]) == 0
    assert "30 games" in capsys.readouterr().out
    assert pq.read_table(path).equals(pq.read_table(small))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--policies nonsense", "nonsense"),
        ("--policies random --games 0", "--games 0"),
        ("--policies random --values heuristic", "expected a search"),
    ],
)
def test_bad_settings_are_refused_and_write_nothing(words, problem, tmp_path, capsys):
    path = tmp_path / "games.parquet"
    assert main(["record", "pikit_v0", *words.split(), "--out", str(path)]) == 2
    assert problem in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_interrupted_recording_keeps_whole_games(monkeypatch, tmp_path):
    monkeypatch.setattr(recording, "CHUNK", 4)
    path, played = tmp_path / "games.parquet", recording._play

    def interrupted(*args):
        if args[2][0] == 4:
            os.kill(os.getpid(), signal.SIGTERM)  # a shell may have SIGINT ignored
        return played(*args)

    monkeypatch.setattr(recording, "_play", interrupted)
    assert record_games(path, variant("pikit_v0", players=2), ["random"], 100) == 8
    assert len(GameFile(path)) == 8


def test_a_recording_that_is_interrupted_inside_of_endless_games_keeps_those_before(monkeypatch, tmp_path):
    monkeypatch.setattr(recording, "CHUNK", 4)
    monkeypatch.setattr("monsterzoo.training.runs.interrupts.PATIENCE", 0.05)
    path, played = tmp_path / "games.parquet", recording._play

    def endless(*args):
        while args[2][0] == 4:
            if not signals:
                signals.append(os.kill(os.getpid(), signal.SIGTERM))
        return played(*args)

    signals = []
    monkeypatch.setattr(recording, "_play", endless)
    assert record_games(path, variant("pikit_v0", players=2), ["random"], 100) == 4
    assert len(GameFile(path)) == 4


def _rewritten(path, target, change=lambda table: table, **about):
    """A copy of a file with other content."""
    table = change(pq.read_table(path))
    described = {**json.loads(pq.ParquetFile(path).schema_arrow.metadata[KEY]), **about}
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(described)}), target)
    return target


def _with_column(name, values):
    def change(table):
        field = SCHEMA.field(name)
        return table.set_column(
            table.schema.get_field_index(name), field, pa.array(values(table[name].to_pylist()), field.type)
        )

    return change


def _first_move(change):
    return _with_column("moves", lambda rows: [[change(rows[0][0]), *rows[0][1:]], *rows[1:]])


DAMAGES = {
    "its format is 2": {"format": 2},
    "no game 'chess_v0'|chess_v0": {"game": "chess_v0"},
    "players": {"options": {"players": 9}},
    "it has other columns": {"change": lambda table: table.drop_columns(["returns"])},
    "game 0: move 0": {"change": _first_move(lambda move: 65535)},
    "does not end with its moves": {"change": _with_column("moves", lambda rows: [rows[0][:-1], *rows[1:]])},
    "end otherwise": {"change": _with_column("returns", lambda rows: [[1.0, 1.0], *rows[1:]])},
    "seatings": {"change": _with_column("seating", lambda rows: [[7, 7], *rows[1:]])},
}


@pytest.mark.parametrize("problem", DAMAGES)
def test_damaged_and_foreign_files_are_refused_by_name(problem, small, tmp_path):
    broken = _rewritten(small, tmp_path / "broken.parquet", **DAMAGES[problem])
    with pytest.raises(ValueError, match=problem) as caught:
        list(GameFile(broken).samples())
    assert "broken.parquet" in str(caught.value)


def test_other_files_are_refused(small, tmp_path):
    foreign = tmp_path / "foreign.parquet"
    with pytest.raises(ValueError, match="there is no file"):
        GameFile(foreign)
    foreign.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(ValueError, match=r"foreign\.parquet is not a file of recorded games"):
        GameFile(foreign)
    pq.write_table(pa.table({"a": [1]}), foreign)
    with pytest.raises(ValueError, match="does not say which games"):
        GameFile(foreign)
    half = small.read_bytes()
    foreign.write_bytes(half[: len(half) // 2])
    with pytest.raises(ValueError, match="not a file of recorded games"):
        GameFile(foreign)


def test_a_random_move_is_never_carried_out_unchecked(small, tmp_path):
    """Whatever the moves are, the file is read or refused: compiled code has no bounds checks."""
    random = np.random.default_rng(0)
    for _ in range(40):
        noise = _with_column("moves", lambda rows: [random.integers(0, 200, len(row)).tolist() for row in rows])
        with pytest.raises(ValueError, match="cannot be"):
            list(GameFile(_rewritten(small, tmp_path / "noise.parquet", noise)).samples())


def test_torch_sees_every_decision_once(small):
    torch = needs("torch")
    from monsterzoo.training.data.datasets import GameDataset

    samples = list(GameFile(small).samples())
    total = sum(len(one.seats) for one in samples)
    dataset = GameDataset(small, batch_size=64, seed=1)
    epochs = [list(dataset) for _ in range(2)]
    for batches in epochs:
        assert sum(len(batch["actions"]) for batch in batches) == total
        assert max(len(batch["actions"]) for batch in batches) == 64
    assert not torch.equal(epochs[0][0]["observations"], epochs[1][0]["observations"])
    rows = {tuple(row.tolist()) for batch in epochs[0] for row in batch["observations"]}
    assert rows == {tuple(row.tolist()) for one in samples for row in one.observations}
    loader = torch.utils.data.DataLoader(GameDataset(small, shuffle=False), batch_size=None, num_workers=2)
    shared = [tuple(row.tolist()) for batch in loader for row in batch["observations"]]
    assert sorted(shared) == sorted(tuple(row.tolist()) for one in samples for row in one.observations)


def test_batches_are_in_the_order_of_the_file_or_in_another_one_for_each_seed_and_epoch(small):
    needs("torch")
    from monsterzoo.training.data.datasets import GameDataset

    groups = list(GameFile(small).samples(history=3))
    batches = list(GameDataset(small, 50, shuffle=False, history=3))
    sizes = [min(50, len(one.seats) - first) for one in groups for first in range(0, len(one.seats), 50)]
    assert [len(batch["seats"]) for batch in batches] == sizes
    names = {name for name, values in groups[0]._asdict().items() if values is not None}
    assert "history" in names
    for name in names:
        wanted = np.concatenate([getattr(one, name) for one in groups])
        np.testing.assert_array_equal(np.concatenate([batch[name] for batch in batches]), wanted)

    def games(seed, epochs=1):
        dataset = GameDataset(small, 50, seed=seed)
        for _ in range(epochs):
            found = [batch["games"].numpy() for batch in dataset]
        return found

    first = games(1)
    for other, same in ((games(1), True), (games(2), False), (games(1, epochs=2), False)):
        assert all(map(np.array_equal, first, other)) == same
    assert len({tuple(np.unique(batch // 10)) for batch in first}) == 3, "row groups stay together"
    assert {tuple(games(seed)[0][:1] // 10) for seed in range(8)} == {(0,), (1,), (2,)}, "and come in any order"
