"""Training curves as a PNG."""

from pathlib import Path

import numpy as np

from .files import replacing


def draw(lines: list[dict[str, float]], path: Path, title: str, chance_level: float) -> None:
    """Draw win rates (beside chance level), entropy and value quality of a run over its steps into a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    wins, inside = figure.subplots(1, 2)
    rates = sorted({name for line in lines for name in line if name.startswith("win_")})
    for name in rates:
        rival = name.removeprefix("win_")
        measured = np.array([(line["steps"], line[name], line[f"error_{rival}"]) for line in lines if name in line])
        steps, middle, error = measured.T
        wins.plot(steps / 1e6, middle, marker=".", label=f"against {rival}")
        wins.fill_between(steps / 1e6, middle - 1.96 * error, middle + 1.96 * error, alpha=0.2, linewidth=0)
    wins.axhline(chance_level, color="tab:gray", linestyle="--", label=f"chance level ({100 * chance_level:.0f} %)")
    wins.set(title=f"{title}: win rate (95 %)", xlabel="million steps", ylim=(0, 1))
    wins.grid(alpha=0.3)
    wins.legend(loc="lower right")
    for name, label in (("entropy", "entropy of decisions (nats)"), ("explained", "explained variance of returns")):
        inside.plot([line["steps"] / 1e6 for line in lines], [line[name] for line in lines], label=label)
    inside.set(title="inside", xlabel="million steps")
    inside.grid(alpha=0.3)
    inside.legend()
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120)
