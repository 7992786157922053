"""Games from elsewhere: what other processes have saved goes on here, and what never was played is refused."""

import copy
import json
import os
import pickle
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.envs import make, make_vec, replay, variant
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.api.saving import MAGIC, Saved

SAVE = """
import sys
import numpy as np
from monsterzoo.envs import make

env = make("pikit_v0", players=2).unwrapped
env.reset(seed=4)
for _ in range(int(sys.argv[1])):
    if any(env.truncations.values()):
        break
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
sys.stdout.buffer.write(env.save())
"""


def played(name, options, steps, seed=4):
    """A game somewhere in its middle, and the random numbers that led there."""
    env, random = make(name, **options).unwrapped, np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(steps):
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        env.step(int(random.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
    return env


def forged(data, change):
    """Saved bytes with something else inside, and the checksum that goes with it; `change` gets head and state."""
    start, size = len(MAGIC) + 8, struct.unpack_from("<I", data, len(MAGIC) + 4)[0]
    head, state = json.loads(data[start : start + size]), bytearray(data[start + size :])
    head = change(head, state) or head
    text = json.dumps(head).encode()
    body = struct.pack("<I", len(text)) + text + bytes(state)
    return MAGIC + struct.pack("<I", zlib.crc32(body)) + body


# --- What was played ---


@pytest.mark.parametrize("steps", [30, 10_000])
def test_a_game_saved_by_another_process_goes_on_here(steps):
    done = subprocess.run([sys.executable, "-c", SAVE, str(steps)], capture_output=True, check=True, timeout=300)
    env = make("pikit_v0", players=2).unwrapped
    env.reset(seed=1)
    env.restore(done.stdout)
    assert env.save() == done.stdout
    assert (len(env.record()["actions"]) == steps) == (not env.snapshot()["over"]) == (steps == 30)


def test_every_moment_of_every_variant_is_believed(name, options):
    env, random = played(name, options, 15), np.random.default_rng(1)
    env.reset(options={"snapshot": env.snapshot()})
    while env.agents:
        over = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        if over or random.random() < 0.05:
            data = env.save()
            env.restore(bytes(data))  # as from another process
            assert env.save() == data
        env.step(None if over else int(random.choice(np.flatnonzero(env.last()[0]["action_mask"]))))


def test_own_saves_are_trusted_and_bytes_are_played_again(monkeypatch):
    env = played("pikit_v0", {"players": 2}, 20)
    data = env.save()
    assert isinstance(data, Saved)
    replayed, replay = [], GameEnv._replayed
    monkeypatch.setattr(GameEnv, "_replayed", lambda *arguments: replayed.append(arguments) or replay(*arguments))
    for own in (data, copy.copy(data), copy.deepcopy([data])[0]):
        env.restore(own)
        copy.deepcopy(env).restore(own)
    assert not replayed
    foreign = (bytes(data), bytearray(data), memoryview(data), pickle.loads(pickle.dumps(data)), data + b"")
    for other in foreign:
        assert type(other) is not Saved
        env.restore(other)
    assert len(replayed) == len(foreign)


# --- What never was ---


def _flip(head, state):
    state[len(state) // 2] ^= 1


def _other_moves(head, state):
    head["moves"] = head["moves"][:-1]


def _no_such_move(head, state):
    head["moves"][0] = [0, 10**12]


def _no_pairs(head, state):
    head["moves"] = 7


def _other_start(head, state):
    head["start"] = {"seed": 5}


def _no_start(head, state):
    head["start"] = {}


def _other_agent(head, state):
    head["agent_selection"] = "player_9"


def _nobody(head, state):
    head["agents"] = []


def _infinite(head, state):
    head["rewards"]["player_0"] = float("inf")


def _no_rewards(head, state):
    del head["cumulative"]


def _a_list(head, state):
    return [1, 2]


def _deep(head, state):
    head["start"] = {"snapshot": json.loads("[" * 500 + "]" * 500)}


@pytest.mark.parametrize(
    "change",
    [_flip, _other_moves, _no_such_move, _no_pairs, _other_start, _no_start, _other_agent, _nobody, _infinite,
     _no_rewards, _a_list, _deep],
)  # fmt: skip
def test_forged_saves_are_refused_and_change_nothing(change):
    env = played("yokai_septet_v0", {"players": 4}, 25)
    before = env.save()
    data = forged(before, change)
    assert data != before
    with pytest.raises(ValueError, match="the saved bytes hold no game of this environment"):
        env.restore(data)
    assert env.save() == before
    assert forged(before, lambda head, state: None) == before, "the forger knows the form"


def test_saves_of_another_version_and_of_more_than_a_state_are_refused():
    env = played("pikit_v0", {"players": 2}, 5)
    saved = env.save()
    for change, problem in (
        (lambda head, state: {**head, "fields": head["fields"] + ",more:|u1()@999"}, "by another version of the game"),
        (lambda head, state: state.append(0), "do not hold one state"),
        (lambda head, state: {**head, "options": {**head["options"], "max_turns": 7}}, "not of this environment"),
        (lambda head, state: {**head, "game": "chess_v0"}, "the bytes are of chess_v0"),
        (lambda head, state: {**head, "moves": head["moves"][:-1]}, "played again, comes to another end"),
    ):
        with pytest.raises(ValueError, match=problem):
            env.restore(forged(saved, change))
        assert env.save() == saved
    env.restore(bytes(saved))
    for view in (bytearray(saved), memoryview(saved)):
        env.restore(view)
        assert env.save() == saved


def _forge(states, random):
    raw = states.view(np.uint8)
    raw[random.integers(len(raw))] ^= np.uint8(1 << random.integers(8))


def test_positions_that_cannot_be_are_not_restored_into_a_batch(name, options):
    games, random = make_vec(name, 2, seed=3, **options), np.random.default_rng(3)
    for _ in range(40):
        games.step(games.sample_actions())
    games.restore(games.save(), validate=True)
    before, refused = games.states.tobytes(), 0
    for _ in range(40):
        saved = games.save()
        _forge(saved["states"][:1].reshape(-1), random)
        try:
            games.restore(saved, validate=True)
        except ValueError:
            refused += 1
            assert games.states.tobytes() == before
        else:  # another position, such as another generator
            for _ in range(50):
                games.step(games.sample_actions())
            games.restore({**saved, "states": np.frombuffer(before, np.uint8).reshape(2, -1)})
    assert refused > 20


# --- Nothing is run ---


class Hostile:
    """Creates a file when somebody unpickles it."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (Path.touch, (self.marker,))


def test_pickles_in_place_of_saves_records_and_snapshots_are_not_run(tmp_path):
    marker = tmp_path / "run by a file"
    hostile = pickle.dumps(Hostile(marker))
    env = played("pikit_v0", {"players": 2}, 5)
    before = env.save()
    own = variant("pikit_v0", players=2)
    doors = [
        lambda: env.restore(hostile),
        lambda: env.restore(MAGIC + struct.pack("<I", zlib.crc32(hostile)) + hostile),
        lambda: env.restore(forged(before, lambda head, state: {**head, "start": hostile.decode("latin-1")})),
        lambda: env.reset(options={"snapshot": hostile}),
        lambda: env.reset(options={"snapshot": {**env.snapshot(), "hands": hostile}}),
        lambda: own.load(hostile, 0),
        lambda: replay(hostile),
        lambda: replay({**env.record(), "snapshot": hostile}),
        lambda: make_vec("pikit_v0", 1, seed=1, players=2).restore(hostile),
        lambda: make_vec("pikit_v0", 1, seed=1, players=2).restore({"states": hostile}),
    ]
    for door in doors:
        with pytest.raises(ValueError, match=r"\w"):
            door()
        assert not marker.exists()
    assert env.save() == before
    pickle.loads(hostile)
    assert marker.exists(), "the pickle is hostile indeed"
    os.unlink(marker)


def test_environments_still_travel_as_pickles():
    env = played("bite_night_v0", {"players": 4}, 30)
    again: GameEnv = pickle.loads(pickle.dumps(env))
    assert again.snapshot() == env.snapshot()
    assert again.save() == env.save()
