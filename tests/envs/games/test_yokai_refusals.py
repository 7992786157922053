"""Why an action of Yokai Septet is refused, in words: before play with two players, and in a round with four."""

from random import Random

import pytest
from monsterzoo.envs.api.aec import GameEnv
from monsterzoo.envs.core.registry import find_game

FULL = {"W": "Wind", "E": "Earth", "C": "Charm", "L": "Lightning", "D": "Darkness", "F": "Fire", "S": "Snow"}


@pytest.mark.parametrize("options", [{"players": 2}, {"players": 4, "variant": "seven_suitors"}])
def test_refusals_follow_from_the_position(options: dict[str, object]) -> None:
    env, random, met = GameEnv(find_game("yokai_septet_v0"), **options), Random(1), set[str]()
    env.reset(seed=3)
    while env.snapshot()["round"] == 1 and (options["players"] == 4 or env.snapshot()["phase"] != "play"):
        position, seat = env.snapshot(), env.variant.agents.index(env.agent_selection)
        mask = env.infos[env.agent_selection]["action_mask"]
        phase = position["phase"]
        for action, name in enumerate(env.variant.action_names[:-1]):
            if mask[action]:
                continue
            why = str(env.variant.refuse(env.states[0], seat, action)).rpartition(": ")[2]
            met.add(why)
            card = name[0] in FULL and name[1:2].isdigit()
            if phase in ("exchange", "keep"):
                bossless = phase == "exchange" and name.startswith("exchange")
                other = "choose an exchange or none" if phase == "exchange" else "choose which boss stays face up"
                assert why == ("there is no face-up boss in that place" if bossless else other)
            elif not card:
                assert why == f"it belongs to another phase than {phase}"
            elif name not in position["hands"][seat]:
                assert why == "the seat does not hold this card"
            elif phase == "discard":
                assert (why, name[1:]) == ("a boss cannot be discarded", "7")
            else:
                led = next(laid for who, laid in position["trick"] if who == position["lead"])
                assert why == f"the seat must follow suit ({FULL[led[0]]})"
        env.step(random.choice(mask.nonzero()[0].tolist()))
    assert len(met) >= 5
