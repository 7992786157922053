"""Training curves as a PNG."""

from pathlib import Path

from .files import replacing

LEVELS = {"win_random": "against random", "win_heuristic": "against heuristic"}


def draw(lines: list[dict[str, float]], path: Path, title: str, chance_level: float) -> None:
    """Draw win rates (beside chance level), entropy and value quality of a run over its steps into a PNG."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, (wins, inside) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    rates = sorted({name for line in lines for name in line if name.startswith("win_")})
    for name in rates:
        measured = [line for line in lines if name in line]
        steps = [line["steps"] / 1e6 for line in measured]
        middle = [line[name] for line in measured]
        margin = [1.96 * line["error_" + name[4:]] for line in measured]
        wins.plot(steps, middle, marker=".", label=LEVELS.get(name, "against " + name[4:]))
        low = [m - e for m, e in zip(middle, margin)]
        wins.fill_between(steps, low, [m + e for m, e in zip(middle, margin)], alpha=0.2, linewidth=0)
    wins.axhline(chance_level, color="tab:gray", linestyle="--", label=f"chance level ({100 * chance_level:.0f} %)")
    wins.set(title=f"{title}: win rate (95 %)", xlabel="million steps", ylim=(0, 1))
    wins.grid(alpha=0.3)
    wins.legend(loc="lower right")
    steps = [line["steps"] / 1e6 for line in lines]
    for name, label in (("entropy", "entropy of decisions (nats)"), ("explained", "explained variance of returns")):
        inside.plot(steps, [line[name] for line in lines], label=label)
    inside.set(title="inside", xlabel="million steps")
    inside.grid(alpha=0.3)
    inside.legend()
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120)
    pyplot.close(figure)
