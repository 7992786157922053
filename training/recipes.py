"""How the shipped networks are made: for every variant the stages of its training, by name.

A stage is a `monsterzoo train` command line without what follows from the variant: game, options (but for `reward`),
seed and folder. Its budget is counted in updates, so that another machine makes the same network up to rounding. The
first stage starts from nothing, every other one from the network of the stage before it, with that one's width and
blocks, and without imitating anybody first. `{name}` is the folder of an earlier stage, for opponents and other starts:

    "ppo": "--updates 600",
    "enemy": "--updates 200 --self-play 0 --opponents ppo:{ppo}",
    "wiser": "--updates 300 --start ppo:{ppo} --opponents past heuristic ppo:{enemy}",

The last stage's network is the one that is shipped. `python -m monsterzoo.training.zoo` carries recipes out.
"""

POINTS = "--option reward=score --imitate-share 0.15 --minibatch 1024"
"""Where games are long: every point counts, not the last one alone."""

RECIPES: dict[str, dict[str, str]] = {
    "bite_night_v0-4p": {
        "ppo": f"--updates 714 {POINTS} --entropy-coef 0.003 --self-play 0 --opponents heuristic",
    },
    "bite_night_v0-3p": {
        "ppo": f"--updates 714 {POINTS} --entropy-coef 0.003 --self-play 0 --opponents heuristic",
    },
    "bite_night_v0-4p-advanced": {
        "ppo": f"--updates 714 {POINTS} --entropy-coef 0.003 --self-play 0 --opponents heuristic",
    },
    "bite_night_v0-3p-advanced": {
        "ppo": f"--updates 714 {POINTS} --entropy-coef 0.003 --self-play 0 --opponents heuristic",
    },
    "bite_night_v0-4p-draft": {
        "ppo": f"--updates 714 {POINTS} --entropy-coef 0.003 --self-play 0 --opponents heuristic",
    },
    "pikit_v0-4p": {
        "ppo": "--updates 196",
    },
    "pikit_v0-3p": {
        "ppo": "--updates 200",
    },
    "pikit_v0-2p": {
        "ppo": "--updates 220",
    },
    "yokai_septet_v0-4p": {
        "ppo": f"--updates 1014 {POINTS} --entropy-coef 0.005 --opponents past heuristic",
    },
    "yokai_septet_v0-3p": {
        "ppo": f"--updates 1000 {POINTS} --entropy-coef 0.005 --opponents past heuristic",
    },
    "yokai_septet_v0-2p": {
        "ppo": f"--updates 1000 {POINTS} --entropy-coef 0.005 --opponents past heuristic",
    },
    "yokai_septet_v0-4p-seven_suitors": {
        "ppo": f"--updates 1000 {POINTS} --entropy-coef 0.005 --opponents past heuristic",
    },
    "yokai_septet_v0-4p-seven_suitors_short": {
        "ppo": f"--updates 1000 {POINTS} --entropy-coef 0.005 --opponents past heuristic",
    },
}

SEEDED = ("bite_night_v0-4p", "pikit_v0-2p", "yokai_septet_v0-4p")
"""One variant of each game, to see what the seed makes of a recipe."""
