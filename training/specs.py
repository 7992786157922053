"""What to write where a policy is asked for: the text below every `--help` that asks for one."""

import ast
import inspect
import textwrap
from dataclasses import fields

from monsterzoo.envs.match.players import kinds
from monsterzoo.policies.search import Settings

SPECS = {
    "random": ("random", "a random legal action"),
    "heuristic": ("heuristic", "rules of thumb, where the game has them"),
    "search": ("search:BUDGET[,SETTING=VALUE…]", "search over what the hidden cards could be, see below"),
    "net": ("net:FOLDER", "the network of a training run, or net:FILE"),
    "pretrained": ("pretrained", "the network that ships with the package, where there is one"),
}
"""How the specs of a kind read, and who plays then."""
OWN = ("MODULE:NAME", "a player of your own: a class or object with `act`, or a function")
BUDGETS = ("simulations", "milliseconds")
"""Settings of search that make up BUDGET."""
WIDTH = 79


def search_settings() -> list[tuple[str, object, str]]:
    """Name, default and meaning of every setting of search, from `Settings` itself."""
    body = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body[0]
    assert isinstance(body, ast.ClassDef)
    meanings: dict[str, str] = {}
    for field, after in zip(body.body, body.body[1:]):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(after, ast.Expr):
            text = inspect.cleandoc(ast.literal_eval(after.value))
            meanings[field.target.id] = " ".join(text.split())
    return [(one.name, one.default, meanings.get(one.name, "")) for one in fields(Settings)]


def about_policies() -> str:
    """All specs and all settings of search, for the end of a help."""
    specs = [SPECS[kind] for kind in SPECS if kind in kinds()]
    specs += [(kind, f"of an installed package ({kinds()[kind].value})") for kind in kinds() if kind not in SPECS]
    lines = ["policies:", *_table([*specs, OWN]), "", "search:"]
    budget = "1000 (simulations a decision) or 50ms (time a decision)"
    settings = [(f"{name}={default}", meaning) for name, default, meaning in search_settings() if name not in BUDGETS]
    return "\n".join([*lines, *_table([("BUDGET", budget), *settings])])


def _table(rows: list[tuple[str, str]]) -> list[str]:
    indent = " " * 24
    lines = []
    for name, meaning in rows:
        start = f"  {name}".ljust(len(indent))
        if len(start) > len(indent):
            lines.append(start)
            start = indent
        lines += textwrap.wrap(meaning, WIDTH, initial_indent=start, subsequent_indent=indent)
    return lines
