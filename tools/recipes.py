"""Recipes of the shipped networks: for every variant the stages of its training, by name.

A stage is a `monsterzoo train` command line without game, options, seed and folder, which `tools.zoo` adds. Budgets are
counted in updates, so that another machine makes the same network up to rounding. A stage starts from the network of
the stage before it unless it says otherwise. `{name}` is the folder of an earlier stage and `{runs}` that of all runs:

    "ppo": "--updates 600",
    "exploiter": "--updates 200 --self-play 0 --opponents net:{ppo}",
    "robust": "--updates 300 --start net:{ppo} --opponents past heuristic net:{exploiter}",

The last stage's network is the one that is shipped.
"""

ROLLOUTS = "--method rollouts --imitate-share 0.08"
WIDE = f"{ROLLOUTS} --width 200 --target-temperature 0.01"
LONG_IMITATION = "--method rollouts --imitate-share 0.25 --learning-rate 0.001"
SOME_IMITATION = "--method rollouts --imitate-share 0.12 --learning-rate 0.001"
LONGER = "--imitate '' --learning-rate 0.0005 --self-play 0.4 --opponents past heuristic --final-entropy-coef 0.2"
NO_IMITATION = "--method rollouts --imitate-share 0"
FROM_SUITORS = f"{NO_IMITATION} --learning-rate 0.0005 --start net:{{runs}}/yokai_septet_v0-4p-seven_suitors/longer"

RECIPES: dict[str, dict[str, str]] = {
    "bite_night_v0-4p": {"rollouts": f"{WIDE} --updates 850"},
    "bite_night_v0-3p": {"rollouts": f"{WIDE} --updates 850"},
    "bite_night_v0-4p-advanced": {"rollouts": f"{WIDE} --updates 850"},
    "bite_night_v0-3p-advanced": {"rollouts": f"{WIDE} --updates 850"},
    "bite_night_v0-4p-draft": {"rollouts": f"{WIDE} --updates 850"},
    "pikit_v0-4p": {"ppo": "--updates 200", "longer": f"--updates 150 {LONGER}"},
    "pikit_v0-3p": {"ppo": "--updates 200", "longer": f"--updates 150 {LONGER}"},
    "pikit_v0-2p": {
        "ppo": "--updates 200",
        "longer": f"--updates 300 {LONGER}",
        "longest": "--updates 300 --num-envs 2048 --imitate '' --learning-rate 0.0004 --self-play 0.4 "
        "--opponents past heuristic --entropy-coef 0.003",
    },
    "yokai_septet_v0-4p": {
        "rollouts": f"{ROLLOUTS} --updates 10000",
        "longer": f"{NO_IMITATION} --updates 7000 --learning-rate 0.001",
    },
    "yokai_septet_v0-3p": {
        "rollouts": f"{LONG_IMITATION} --updates 1500",
        "longer": f"{NO_IMITATION} --updates 2500 --learning-rate 0.001",
    },
    "yokai_septet_v0-2p": {"rollouts": f"{ROLLOUTS} --learning-rate 0.001 --updates 1300"},
    "yokai_septet_v0-4p-seven_suitors": {
        "rollouts": f"{SOME_IMITATION} --updates 5000 --width 120",
        "longer": f"{NO_IMITATION} --updates 9000 --learning-rate 0.001 --width 120",
    },
    "yokai_septet_v0-4p-seven_suitors_short": {"rollouts": f"{FROM_SUITORS} --updates 1500 --width 120"},
}
