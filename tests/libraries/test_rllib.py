"""RLlib and Ray: episodes are the games that were played, training works here and on a cluster, nothing lost is missed.

Needs `ray[rllib]`: `make test-rllib`.
"""

import copy
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="ray[rllib] is not installed: make test-rllib")

import torch
from guide import Audit, check_beats_random
from monsterzoo import policies
from monsterzoo.cli import main
from monsterzoo.envs import env_seed, make, variant
from monsterzoo.envs.api.gym import SeatVectorEnv
from monsterzoo.policies import from_rllib
from monsterzoo.training.algorithms.network import ILLEGAL
from monsterzoo.training.arena import Tournament
from monsterzoo.training.distributed.cluster import joined, map_tasks
from monsterzoo.training.evaluation.win_rate import win_rate
from monsterzoo.training.rllib import BatchRunner, ppo_config, save_policy
from monsterzoo.training.rllib.module import MaskedCategorical
from ray.cluster_utils import Cluster
from ray.rllib.algorithms import Algorithm
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical

ROOT = Path(__file__).resolve().parents[2]
PIKIT = {"players": 2}

ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Ray's processes cannot import this file


@pytest.fixture(autouse=True)
def one_thread():
    """Several threads are slower for networks of this size, much slower on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def local_ray():
    """A Ray of two processors on this machine."""
    with joined("local", 2):
        yield


def small(config, steps=512):
    """A config that learns from few steps at a time."""
    return config.training(train_batch_size_per_learner=steps, minibatch_size=256, num_epochs=1)


def runner_of(game, steps=40, **settings):
    config = ppo_config(game, envs_per_runner=8, seed=5, **settings)
    return BatchRunner(config=small(config, 8 * steps), worker_index=0)


def whole_episodes(samples):
    """The pieces of each episode in order, and those put together that have come to an end."""
    pieces = defaultdict(list)
    for episode in samples:
        pieces[episode.id_].append(episode)
    return {name: parts for name, parts in pieces.items() if parts[-1].is_done}


def column(parts, get):
    return np.concatenate([get(part) for part in parts])


# --- Episodes are the games that were played ---


@pytest.mark.parametrize("skip_forced", [False, True])
@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("pikit_v0", {"players": 2, "reward": "score"}),
        ("pikit_v0", {"players": 3, "max_turns": 5}),
        ("yokai_septet_v0", {"players": 4, "episode": "round", "reward": "score"}),
        ("bite_night_v0", {"players": 3, "reward": "score"}),
    ],
)
def test_self_play_episodes_replay_as_games(game, options, skip_forced):
    """Every observation, mask, reward and terminal observation is that of the AEC game with the same luck."""
    runner = runner_of(game, multi_agent=True, skip_forced=skip_forced, **options)
    samples = [episode for _ in range(6) for episode in runner.sample()]
    games = defaultdict(dict)
    for name, parts in whole_episodes(samples).items():
        assert sum(map(len, parts[:-1])) == parts[-1].t_started, "a piece is missing"
        games[name.rpartition("_")[0]][parts[0].agent_id] = parts
    first = {name: seats for name, seats in games.items() if name.endswith("_0")}  # of each table
    assert len(first) >= 6
    for name, seats in first.items():
        table = int(name.split("_")[1])
        env = make(game, **options).unwrapped
        env.reset(seed=env_seed(env_seed(5, 0), table))
        seen = {agent: column(p, lambda e: e.observations.data["observation"][: len(e)]) for agent, p in seats.items()}
        masks = {agent: column(p, lambda e: e.observations.data["action_mask"][: len(e)]) for agent, p in seats.items()}
        actions = {agent: column(parts, lambda e: e.actions.data) for agent, parts in seats.items()}
        rewards = {agent: column(parts, lambda e: e.rewards.data) for agent, parts in seats.items()}
        asked, paid = dict.fromkeys(seats, 0), {agent: np.zeros(len(rewards[agent])) for agent in seats}
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            agent = env.agent_selection
            observation = env.observe(agent)
            legal = np.flatnonzero(observation["action_mask"])
            if skip_forced and len(legal) == 1:
                action = legal[0]
            else:
                turn = asked[agent]
                np.testing.assert_array_equal(seen[agent][turn], observation["observation"])
                np.testing.assert_array_equal(masks[agent][turn], observation["action_mask"])
                action, asked[agent] = actions[agent][turn], turn + 1
            env.step(int(action))
            for other, reward in env.rewards.items():
                if asked.get(other):
                    paid[other][asked[other] - 1] += reward
        for agent, parts in seats.items():
            assert asked[agent] == len(actions[agent])
            np.testing.assert_allclose(rewards[agent], paid[agent], atol=1e-5)
            last = parts[-1]
            assert (last.is_terminated, last.is_truncated) == (env.terminations[agent], env.truncations[agent])
            np.testing.assert_array_equal(last.observations.data["observation"][-1], env.observe(agent)["observation"])
            assert last.module_id == "shared"


@pytest.mark.parametrize("opponents", ["random", "heuristic"])
def test_one_seat_episodes_are_those_of_the_environment(opponents):
    runner = runner_of("pikit_v0", opponents=opponents, skip_forced=False, players=3, reward="score")
    tables = defaultdict(list)
    for _ in range(4):
        for episode in runner.sample():
            tables[int(episode.id_.split("_")[1])].append(episode)
    options = {"players": 3, "reward": "score", "autoreset_mode": "same_step"}
    env = SeatVectorEnv("pikit_v0", 8, opponents=opponents, **options)
    observed, _ = env.reset(seed=env_seed(5, 0))
    position = [(0, 0)] * 8  # of the piece, and in it
    steps = min(sum(map(len, pieces)) for pieces in tables.values())
    finished = 0
    for _ in range(steps):
        actions = np.zeros(8, np.int64)
        for table, (number, turn) in enumerate(position):
            piece = tables[table][number]
            for key in ("observation", "action_mask"):
                np.testing.assert_array_equal(piece.observations.data[key][turn], observed[key][table])
            actions[table] = piece.actions.data[turn]
        observed, rewards, terminated, truncated, infos = env.step(actions)
        for table, (number, turn) in enumerate(position):
            piece = tables[table][number]
            assert piece.rewards.data[turn] == pytest.approx(rewards[table])
            over = turn + 1 == len(piece)
            position[table] = (number + 1, 0) if over else (number, turn + 1)
            assert (over and piece.is_done) == (terminated[table] or truncated[table])
            if piece.is_done and over:
                finished += 1
                final = infos["final_obs"][table]
                np.testing.assert_array_equal(piece.observations.data["observation"][-1], final["observation"])
                np.testing.assert_array_equal(piece.observations.data["action_mask"][-1], final["action_mask"])
    assert finished > 8


def test_ten_thousand_steps_without_an_illegal_action():
    runner = runner_of("pikit_v0", steps=320, multi_agent=True, players=4)
    decisions = 0
    while decisions < 10_000:
        for episode in runner.sample():
            masks = episode.observations.data["action_mask"]
            actions = episode.actions.data
            assert masks[np.arange(len(actions)), actions].all()
            logits = episode.extra_model_outputs["action_dist_inputs"].data
            assert (logits[masks[: len(actions)] == 0] < -1e8).all()
            decisions += len(actions)


def test_whole_games_are_the_first_of_every_table_and_reported():
    runner = runner_of("pikit_v0", opponents="random", players=2)
    episodes = runner.sample(num_episodes=12, explore=False)
    done = whole_episodes(episodes)
    assert sorted(tuple(map(int, name.split("_")[1:3])) for name in done) == [
        (table, number) for table in range(8) for number in range(2 if table < 4 else 1)
    ]
    assert len({episode.id_ for episode in episodes}) == 12
    metrics = {key: stats.peek() for key, stats in runner.get_metrics().items() if hasattr(stats, "peek")}
    assert metrics["num_episodes"] == 12
    # A win is +1 and a defeat -1, so both say the same.
    assert metrics["episode_return_mean"] == pytest.approx(2 * metrics["win_rate"] - 1)


def test_the_same_seed_plays_the_same_games():
    one, two = (
        [episode.actions.data.tolist() for episode in runner_of("pikit_v0", multi_agent=True, players=2).sample()]
        for _ in range(2)
    )
    assert one == two


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"networks": "many"}, "networks='many' is not allowed; allowed: 'shared', 'team'"),
        ({"multi_agent": True, "opponents": "random"}, "every seat learns"),
        ({"env_runners": -1}, "env_runners=-1 is not allowed; allowed: an integer from 0"),
        ({"opponents": "nobody"}, "there is no policy 'nobody'"),
        ({"seat": 7}, "seat=7 is not allowed"),
        ({"players": 9}, "players"),
    ],
)
def test_configs_that_cannot_be_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        ppo_config("pikit_v0", **settings)


# --- What is learned from ---


@pytest.mark.parametrize("settings", [{"multi_agent": True}, {"multi_agent": True, "networks": "team"}, {}])
def test_batches_are_those_of_rllibs_own_connectors(settings):
    """With terminated, truncated and cut episodes; only the rows that RLlib adds and masks out are not there."""
    config = ppo_config("pikit_v0", envs_per_runner=8, seed=5, players=2, max_turns=30, **settings)
    config.training(gamma=0.9, lambda_=0.8, train_batch_size_per_learner=8 * 60)
    runner = BatchRunner(config=config, worker_index=0)
    learners = [
        config.copy(copy_frozen=False)
        .learners(add_default_connectors_to_learner_pipeline=default)
        .build_learner(spaces=runner.get_spaces())
        for default in (True, False)
    ]
    for module in learners[0].module.values():
        torch.nn.init.normal_(module.network.value.weight)  # values are zero in the beginning
    weights = learners[0].module.get_state()
    learners[1].module.set_state(weights)
    runner.set_state({"rl_module": weights})
    runner.sample()
    episodes = runner.sample()
    ends = {(episode.is_terminated, episode.is_truncated) for episode in episodes}
    assert ends == {(True, False), (False, True), (False, False)}

    def batch(learner, some):
        return learner._learner_connector(rl_module=learner.module, batch={}, episodes=some, shared_data={})

    untold = copy.deepcopy(episodes)
    for episode in untold:
        del episode.extra_model_outputs["vf_preds"]
    theirs = batch(learners[0], copy.deepcopy(untold))
    for ours in (batch(learners[1], episodes), batch(learners[1], untold)):
        assert ours.keys() == theirs.keys()
        for name, expected in theirs.items():
            real = expected["loss_mask"]
            for key in ("actions", "action_logp", "action_dist_inputs", "value_targets"):
                torch.testing.assert_close(ours[name][key], expected[key][real], rtol=1e-4, atol=1e-5)
            for key in ("observation", "action_mask"):
                assert torch.equal(ours[name]["obs"][key], expected["obs"][key][real])
            # RLlib's mean and deviation count the added rows, too.
            mean, deviation = (getattr(expected["advantages"][real], kind)() for kind in ("mean", "std"))
            advantages = (expected["advantages"][real] - mean) / deviation
            torch.testing.assert_close(ours[name]["advantages"], advantages, rtol=1e-2, atol=1e-3)


def test_the_distribution_is_that_of_its_log_probabilities():
    torch.manual_seed(0)
    one = (torch.randn(6, 9) * 3).masked_fill(torch.rand(6, 9) < 0.5, ILLEGAL).log_softmax(1)
    ours, theirs = MaskedCategorical.from_logits(one), TorchCategorical.from_logits(one)
    actions = ours.sample()
    torch.testing.assert_close(ours.logp(actions), theirs.logp(actions))
    torch.testing.assert_close(ours.entropy(), theirs.entropy())
    assert torch.equal(ours.to_deterministic().sample(), theirs.to_deterministic().sample())
    open_ = torch.zeros_like(one).log_softmax(1)  # where everything is possible there is a distance
    torch.testing.assert_close(
        ours.kl(MaskedCategorical.from_logits(open_)),
        theirs.kl(TorchCategorical.from_logits(open_)),
        rtol=1e-5,
        atol=1e-5,
    )
    drawn = torch.stack([ours.sample() for _ in range(4000)], 1)
    often = torch.stack([(drawn == action).float().mean(1) for action in range(9)], 1)
    torch.testing.assert_close(often, one.exp(), rtol=0, atol=0.05)
    assert (often[one < -1e8] == 0).all()


# --- Training ---


def wins(policy, games=400):
    one = variant("pikit_v0", **PIKIT)
    return win_rate(one, policy, policies.make("random", "pikit_v0", **PIKIT), games, seed=3).win_rate


def test_self_play_learns_and_plays_in_the_arena(local_ray, tmp_path, monkeypatch):
    audit = Audit(monkeypatch)
    algorithm = ppo_config("pikit_v0", multi_agent=True, seed=0, **PIKIT).build_algo()
    untrained = wins(from_rllib(algorithm, deterministic=False))  # its likeliest action is just the first
    for _ in range(6):
        result = algorithm.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 6 * 16384
    audit.check(6 * 16384)
    trained = from_rllib(algorithm)
    assert untrained < 0.6
    check_beats_random(trained)
    assert wins(from_rllib(algorithm, deterministic=False)) > untrained + 0.15

    save_policy(algorithm, tmp_path / "policy.npz", "pikit_v0", **PIKIT)
    algorithm.save_to_path(str(tmp_path / "checkpoint"))
    restored = Algorithm.from_checkpoint(str(tmp_path / "checkpoint"))
    players = [
        trained,
        policies.make(f"net:{tmp_path / 'policy.npz'}", "pikit_v0", **PIKIT),
        from_rllib(restored, "restored"),
        from_rllib(tmp_path / "checkpoint", "loaded"),
    ]
    one = variant("pikit_v0", **PIKIT)
    games = Tournament(one, [player.name for player in players], seed=1)
    games.play(players, 120)
    rates = {player["win_rate"] for player in games.result()["players"]}
    assert rates == {0.5}, "four copies of one policy have played differently"

    result = restored.train()
    assert result["env_runners"]["num_env_steps_sampled_lifetime"] == 7 * 16384
    assert result["training_iteration"] == 7
    for one in (algorithm, restored):
        one.stop()


def test_one_seat_learns_against_policies(local_ray):
    algorithm = ppo_config("pikit_v0", seed=0, **PIKIT).build_algo()
    rates = [algorithm.train()["env_runners"]["win_rate"] for _ in range(6)]
    assert rates[0] < 0.65
    assert rates[-1] > 0.75
    assert wins(from_rllib(algorithm)) > 0.8
    algorithm.stop()


def test_teams_learn_networks_of_their_own(local_ray):
    options = {"players": 4, "episode": "round"}
    config = ppo_config("yokai_septet_v0", multi_agent=True, networks="team", seed=0, **options)
    algorithm = small(config, 1024).build_algo()
    runner = algorithm.env_runner
    assert {episode.agent_id: episode.module_id for episode in runner.sample()} == {
        f"player_{seat}": f"team_{seat % 2}" for seat in range(4)
    }
    before = {name: from_rllib(algorithm, module_id=name) for name in ("team_0", "team_1")}
    algorithm.train()
    games = runner.sample(num_episodes=8)
    row = games[0].observations.data["observation"][:1]
    logits = {}
    for name in before:
        module = runner.module[name]
        seen = {"observation": torch.from_numpy(row), "action_mask": torch.ones((1, int(module.action_space.n)))}
        logits[name] = module.forward_inference({"obs": seen})["action_dist_inputs"]
        assert logits[name].std() > 0, f"{name} still plays at random"
    assert not torch.equal(logits["team_0"], logits["team_1"])
    with pytest.raises(ValueError, match="allowed: 'team_0', 'team_1'"):
        from_rllib(algorithm)
    algorithm.stop()


def test_a_killed_runner_is_survived(local_ray):
    config = ppo_config("pikit_v0", multi_agent=True, env_runners=2, envs_per_runner=16, seed=0, **PIKIT)
    algorithm = small(config).build_algo()
    group = algorithm.env_runner_group
    algorithm.train()
    processes = group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    os.kill(processes[0], signal.SIGKILL)
    lifetime = [algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"] for _ in range(3)]
    assert lifetime == sorted(set(lifetime)), "training has stood still"
    deadline = time.monotonic() + 180  # on a busy machine a new process takes its time
    while group.num_healthy_remote_workers() < 2 and time.monotonic() < deadline:
        algorithm.train()
    now = group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    assert len(now) == 2
    assert processes[0] not in now
    algorithm.stop()


def test_a_search_over_two_settings_under_tune(local_ray, tmp_path):
    from ray import tune

    config = small(ppo_config("pikit_v0", multi_agent=True, envs_per_runner=16, **PIKIT))
    config.training(lr=tune.grid_search([1e-3, 1e-4]), entropy_coeff=tune.choice([0.0, 0.02]))
    results = tune.Tuner(
        "PPO",
        param_space=config,
        run_config=tune.RunConfig(
            stop={"training_iteration": 1},
            storage_path=str(tmp_path),
            verbose=0,
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=True),
        ),
    ).fit()
    assert not results.errors
    assert sorted(result.config["lr"] for result in results) == [1e-4, 1e-3]
    policy = from_rllib(results[0].checkpoint.path)
    assert 0 < wins(policy, 20) < 1, "it plays, and not for one side only"


def test_code_on_the_page_runs(tmp_path):
    text = (ROOT / "docs" / "rllib.md").read_text(encoding="utf-8")
    script = tmp_path / "page.py"
    script.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)), encoding="utf-8")
    result = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


# --- Two nodes; the last test, for it needs a Ray of its own ---


@pytest.fixture
def cluster():
    """Two nodes of one processor each, on this machine; no other Ray is joined."""
    ray.shutdown()
    two = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    two.add_node(num_cpus=1)
    yield two
    ray.shutdown()
    two.shutdown()


def test_two_nodes_play_train_and_survive_the_loss_of_one(cluster, tmp_path, capsys):
    words = ["arena", "--game", "pikit_v0", "--players", "2", "--policies", "random", "heuristic", "--quiet"]
    words += ["--games", "40", "--seed", "2", "--output"]
    assert main([*words, str(tmp_path / "there"), "--ray", cluster.address, "--workers", "2"]) == 0
    assert main([*words, str(tmp_path / "here")]) == 0
    assert (tmp_path / "there.json").read_text() == (tmp_path / "here.json").read_text()

    with joined(cluster.address):
        config = small(ppo_config("pikit_v0", multi_agent=True, env_runners=2, envs_per_runner=16, **PIKIT))
        algorithm = config.build_algo()
        algorithm.train()
        nodes = algorithm.env_runner_group.foreach_env_runner(
            lambda _: ray.get_runtime_context().get_node_id(), local_env_runner=False
        )
        assert len(set(nodes)) == 2
        algorithm.stop()

        def slow(number):
            time.sleep(0.1)
            return 2 * number

        answers = {}
        for number, answer in map_tasks(slow, [(number,) for number in range(30)], workers=2):
            answers[number] = answer
            if len(answers) == 6:
                cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
        assert answers == {number: 2 * number for number in range(30)}
