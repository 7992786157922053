"""Tables of options, sizes, baselines, actions, observations and events, made from the games, and tables of results.

They stand between `<!-- table:start -->` and `<!-- table:end -->` in the pages that `files` lists. `python -m
tools.tables` brings these and the model cards up to date; tests say if one is not.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from monsterzoo.envs.core.game import Game
from monsterzoo.envs.core.layout import Field
from monsterzoo.envs.core.options import REWARD, label
from monsterzoo.envs.core.registry import find_game, names
from monsterzoo.envs.core.variant import Variant
from monsterzoo.policies.networks.files import PRETRAINED
from monsterzoo.training.evaluation.report import markdown

from . import answers, exploiters, ladder, small_games, zoo

START, END = "<!-- table:start -->", "<!-- table:end -->"
_MARKED = re.compile(f"{START}\n.*?\n{END}", re.DOTALL)
_ROOT = Path(__file__).resolve().parents[1]


# --- All games ---


def games_table() -> str:
    """Every game and variant with its sizes."""
    rows = []
    for name in names():
        game = find_game(name)
        for options in game.variants:
            variant = game.variant(**options)
            sizes = (variant.num_actions, variant.layout.size, game.rules.record.itemsize)
            rows.append((f"[`{name}`](../envs/{_folder(name)}/README.md)", label(options), _sides(variant), *sizes))
    return markdown(("game", "variant", "who plays", "actions", "observation (int8)", "state (bytes)"), rows)


def _sides(variant: Variant) -> str:
    teams = f"{variant.sides} teams of {variant.players // variant.sides}"
    return f"{variant.players} players" if variant.sides == variant.players else teams


def _folder(name: str) -> str:
    return name.rsplit("_", 1)[0]


# --- One game ---


def game_tables(game: Game) -> str:
    """Options, sizes, baselines, actions, observations and events of one game."""
    parts = [
        "### Options",
        markdown(("option", "default", "allowed", "meaning"), _options(game)),
        "### Sizes",
        markdown(("variant", "who plays", "actions", "observation", 'reward="score" divides by'), _sizes(game)),
        "### Baselines",
        _BASELINES,
        markdown(("variant", "player", *(f"against {name}" for name in _RIVALS), "chance level"), _baselines(game)),
    ]
    for variants, variant in _distinct(game):
        parts += [
            f"### Actions and observation: {variants}",
            markdown(("action", "name"), _actions(variant)),
            markdown(("field", "columns", "shape", "range", "meaning"), map(_field, variant.layout)),
        ]
    events = {game.variant(**options).event_names for options in game.variants}
    assert len(events) == 1, "an event's number means the same in all variants"
    table = markdown(("event", "meaning"), _events(events.pop()))
    return "\n\n".join([*parts, "### Events: what a seat sees of a decision", _EVENTS, table])


_BASELINES = (
    "Win rates (%, with 95 % intervals) of the player on one side against another on all others; ratings and all "
    "pairings are on [the ladder](../../benchmarks/results/ladder.md). What was trained to beat them wins: "
    "[exploiters](../../docs/exploiters.md). The networks: [trained networks](../../policies/pretrained/README.md)."
)
_RIVALS = ("random", "heuristic")
_EVENTS = (
    "{0} is the seat that an event is about, {1} the next one clockwise, and so on; event 0 is none. Some are only "
    "there for the seat itself, see [events.py](events.py)."
)


def _events(names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Events of one kind in one row, a long one shortened; a kind is the first two words, whatever the number."""
    for _, group in groupby(enumerate(names[1:], 1), key=lambda item: re.sub(r"[A-Z]?\d+", "", item[1]).split()[:2]):
        numbered = [(number, f"`{name}`") for number, name in group]
        (low, first), (high, last) = numbered[0], numbered[-1]
        all_names = ", ".join(name for _, name in numbered)
        yield _range(low, high), all_names if len(numbered) <= 20 else f"{first}, {numbered[1][1]}, …, {last}"


def _baselines(game: Game) -> Iterator[tuple[str, ...]]:
    for one in ladder.read():
        rates = ladder.rates(one)
        for name in list(ladder.ratings(one))[1:] if one["game"] == game.name else ():
            found = (rates.get((name, rival), "–") for rival in _RIVALS)
            yield label(one["options"]), f"`{name}`", *found, f"{one['chance_level']:.0%}"


def _options(game: Game) -> Iterator[tuple[Any, ...]]:
    for name, option in {**game.options, "reward": REWARD}.items():
        yield f"`{name}`", f"`{option.default!r}`", option.allowed, option.meaning


def _sizes(game: Game) -> Iterator[tuple[Any, ...]]:
    for options in game.variants:
        variant = game.variant(**options)
        scale = f"{float(variant.template['scale'][0]):g}"
        yield label(options), _sides(variant), variant.num_actions, variant.layout.size, scale


def _distinct(game: Game) -> Iterator[tuple[str, Variant]]:
    """The variants, those with the same actions and observations together."""
    together: dict[Any, list[dict[str, Any]]] = {}
    for options in game.variants:
        variant = game.variant(**options)
        meanings = tuple(field.meaning for field in variant.layout)
        together.setdefault((variant.action_names, variant.layout.signature, meanings), []).append(options)
    for variants in together.values():
        yield "; ".join(map(label, variants)), game.variant(**variants[0])


def _actions(variant: Variant) -> Iterator[tuple[str, str]]:
    """Actions of one kind in one row; a kind is what a name begins with. Kinds of one action share a row."""
    numbered = list(enumerate(variant.action_names[:-1]))
    kinds = [list(group) for _, group in groupby(numbered, key=lambda item: _kind(item[1]))]
    for single, groups in groupby(kinds, key=lambda group: len(group) == 1):
        for group in [list(chain(*groups))] if single else groups:
            yield _range(group[0][0], group[-1][0]), ", ".join(f"`{name}`" for _, name in group)
    yield str(variant.num_actions - 1), "`no-op`: nothing to decide"


def _kind(name: str) -> str:
    return re.split(r"[\s\d]", name, maxsplit=1)[0] or name.split()[0]


def _field(field: Field) -> tuple[Any, ...]:
    shape = " × ".join(map(str, field.shape)) or "1"
    columns = _range(field.start, field.start + field.size - 1)
    return f"`{field.name}`", columns, shape, f"{field.low} to {field.high}", field.meaning


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


# --- Files ---


def files() -> Iterator[tuple[Path, list[str]]]:
    """Every page that holds tables, and what it should hold between its markers."""
    yield _ROOT / "docs" / "games.md", [games_table()]
    yield _ROOT / "docs" / "language_models.md", [answers.tables(_results(answers.RESULTS))]
    for name in names():
        yield _ROOT / "envs" / _folder(name) / "README.md", [game_tables(find_game(name))]
    rows, small = _results(exploiters.JSON)["exploiters"], _results(small_games.RESULTS)["players"]
    yield _ROOT / "docs" / "exploiters.md", [exploiters.table_of(rows), small_games.table(small)]
    models = zoo.read_index()["models"]
    yield ladder.RESULTS / "ladder.md", [ladder.tables(ladder.read())]
    yield PRETRAINED / "README.md", [zoo.networks_table(models), zoo.commands_of(models)]


def _results(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def with_tables(text: str, tables: list[str], where: str) -> str:
    """A text with what is between its markers replaced."""
    left = iter(tables)
    filled, count = _MARKED.subn(lambda _: f"{START}\n\n{next(left, '')}\n\n{END}", text)
    if count != len(tables):
        raise ValueError(f"{where} has {count} parts between {START} and {END}, not {len(tables)}")
    return filled


def shipped_ladder() -> str:
    """The ratings of the published ladder, as `training.evaluation.published` reads them."""
    rows = []
    for one in ladder.read():
        points = {name: round(place, 1) for name, place in ladder.ratings(one).items()}
        rows.append(json.dumps({"game": one["game"], "options": one["options"], "ratings": points}))
    return "[\n" + ",\n".join(rows) + "\n]\n"


LADDER = _ROOT / "training" / "evaluation" / "ladder.json"

if __name__ == "__main__":
    LADDER.write_text(shipped_ladder(), encoding="utf-8")
    for path, tables in files():
        path.write_text(with_tables(path.read_text(encoding="utf-8"), tables, str(path)), encoding="utf-8")
    for model in zoo.read_index()["models"]:
        (PRETRAINED / zoo.CARDS / f"{Path(model['file']).stem}.md").write_text(zoo.card(model), encoding="utf-8")
