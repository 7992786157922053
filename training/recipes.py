"""How the shipped networks are made: for every variant the stages of its training, by name.

A stage is a `monsterzoo train` command line without what follows from the variant: game, options (but for `reward`),
seed and folder. Its budget is counted in updates, so that another machine makes the same network up to rounding. The
first stage starts from nothing, every other one from the network of the stage before it, with that one's width, blocks
and symmetry, and without imitating anybody first. `{name}` is the folder of an earlier stage, for opponents and other
starts, and `{runs}` that of all runs, for a start from another variant's network:

    "ppo": "--updates 600",
    "enemy": "--updates 200 --self-play 0 --opponents net:{ppo}",
    "wiser": "--updates 300 --start net:{ppo} --opponents past heuristic net:{enemy}",

The last stage's network is the one that is shipped. `python -m monsterzoo.training.zoo` carries recipes out.
"""

COMPARING = "--method rollouts --imitate-share 0.08"
BY_KIND = f"{COMPARING} --width 200 --target-temperature 0.01"
SLOWLY = "--method rollouts --imitate-share 0.25 --learning-rate 0.001"
SURELY = "--method rollouts --imitate-share 0.12 --learning-rate 0.001"
LONGER = "--learning-rate 0.0005 --self-play 0.4 --opponents past heuristic --final-entropy-coef 0.2"
FURTHER = "--method rollouts --imitate-share 0"
AS_SUITORS = f"{FURTHER} --learning-rate 0.0005 --start net:{{runs}}/yokai_septet_v0-4p-seven_suitors/longer"

RECIPES: dict[str, dict[str, str]] = {
    "bite_night_v0-4p": {"playouts": f"{BY_KIND} --updates 850"},
    "bite_night_v0-3p": {"playouts": f"{BY_KIND} --updates 850"},
    "bite_night_v0-4p-advanced": {"playouts": f"{BY_KIND} --updates 850"},
    "bite_night_v0-3p-advanced": {"playouts": f"{BY_KIND} --updates 850"},
    "bite_night_v0-4p-draft": {"playouts": f"{BY_KIND} --updates 850"},
    "pikit_v0-4p": {"ppo": "--updates 200", "longer": f"--updates 150 {LONGER}"},
    "pikit_v0-3p": {"ppo": "--updates 200", "longer": f"--updates 150 {LONGER}"},
    "pikit_v0-2p": {
        "ppo": "--updates 200",
        "longer": f"--updates 300 {LONGER}",
        "longest": "--updates 300 --num-envs 2048 --learning-rate 0.0004 --self-play 0.4 --opponents past heuristic "
        "--entropy-coef 0.003",
    },
    "yokai_septet_v0-4p": {
        "playouts": f"{COMPARING} --updates 10000",
        "longer": f"{FURTHER} --updates 7000 --learning-rate 0.001",
    },
    "yokai_septet_v0-3p": {
        "playouts": f"{SLOWLY} --updates 1500",
        "longer": f"{FURTHER} --updates 2500 --learning-rate 0.001",
    },
    "yokai_septet_v0-2p": {"playouts": f"{COMPARING} --learning-rate 0.001 --updates 1300"},
    "yokai_septet_v0-4p-seven_suitors": {
        "playouts": f"{SURELY} --updates 5000 --width 120",
        "longer": f"{FURTHER} --updates 9000 --learning-rate 0.001",
    },
    "yokai_septet_v0-4p-seven_suitors_short": {"playouts": f"{AS_SUITORS} --updates 1500 --width 120"},
}

SEEDED = ("bite_night_v0-3p", "pikit_v0-4p", "yokai_septet_v0-2p")
"""One variant of each game, to see what the seed makes of a recipe."""
