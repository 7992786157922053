"""What `import monsterzoo` shows: a docstring, the version, the public names, and short ways to print things."""

import pydoc
import subprocess
import sys
from pathlib import Path

import gymnasium
import monsterzoo
import monsterzoo.envs as mz
import pytest
from monsterzoo import policies
from monsterzoo.envs import pikit_v0, yokai_septet_v0
from monsterzoo.envs.version import VERSION


def test_it_has_a_docstring_a_version_and_the_public_names() -> None:
    assert "mz.make_vec(" in (monsterzoo.__doc__ or "")
    assert monsterzoo.__version__ == VERSION
    assert dir(monsterzoo) == sorted(monsterzoo.__all__)
    assert set(monsterzoo.__all__) == {*mz.__all__, "benchmarks", "envs", "policies", "training"}
    for name in mz.__all__:
        assert getattr(monsterzoo, name) is getattr(mz, name) or name == "__version__"
    assert monsterzoo.policies is policies


def test_names_it_has_not_are_missing_as_anywhere() -> None:
    with pytest.raises(AttributeError, match="module 'monsterzoo' has no attribute 'chess'"):
        monsterzoo.chess  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'chess'"):
        from monsterzoo import chess  # noqa: F401


def test_importing_it_imports_nothing_before_it_is_used(tmp_path: Path) -> None:
    code = """
import sys
import monsterzoo
print([name for name in ("numba", "numpy", "gymnasium", "importlib.metadata") if name in sys.modules])
print(monsterzoo.__version__, "numba" in sys.modules)
print(monsterzoo.names(), "numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-S", "-c", "import site; site.main()\n" + code], cwd=tmp_path, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    bare, version, used = done.stdout.splitlines()
    assert "numba" not in bare
    assert "numpy" not in bare
    assert version == f"{VERSION} False"
    assert used == f"{mz.names()} True"


def test_the_example_in_its_docstring_runs(tmp_path: Path) -> None:
    block = monsterzoo.__doc__.split("```python\n")[1].split("```")[0]  # type: ignore[union-attr]
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", mz.names())
def test_help_of_a_games_module_lists_its_functions(name: str) -> None:
    module = getattr(__import__("monsterzoo.envs", fromlist=[name]), name)
    text = pydoc.plain(pydoc.render_doc(module))
    for function in ("env(", "raw_env(", "parallel_env("):
        assert f"\n    {function}" in text
    assert "_game(" not in text


SHOWN = {
    "<Game pikit_v0>": lambda: mz.variant("pikit_v0").game,
    "<Variant pikit_v0 with players=3>": lambda: mz.variant("pikit_v0", players=3),
    "<GameEnv pikit_v0 with players=2, max_turns=9>": lambda: pikit_v0.raw_env(players=2, max_turns=9),
    "<StandardWrappers <GameEnv pikit_v0 with players=4>>": lambda: pikit_v0.env(),
    "<ParallelGameEnv yokai_septet_v0 with players=2>": lambda: yokai_septet_v0.parallel_env(players=2),
    "<VectorGame of 8 games: pikit_v0 with players=2>": lambda: mz.make_vec("pikit_v0", 8, players=2),
    "<UniformPolicy random for pikit_v0 with players=2>": lambda: policies.make("random", "pikit_v0", players=2),
    "<HeuristicPolicy heuristic for pikit_v0 with players=4>": lambda: policies.make("heuristic", "pikit_v0"),
    "<SearchPolicy search:5 for pikit_v0 with players=4>": lambda: policies.make("search:5", "pikit_v0"),
    "<NeuralPolicy pretrained for pikit_v0 with players=2>": lambda: policies.make("pretrained", "pikit_v0", players=2),
    "<FunctionPolicy first>": lambda: policies.from_function(lambda rows, masks: masks.argmax(1), "first"),
}  # fmt: skip


@pytest.mark.parametrize("text", SHOWN)
def test_everything_prints_in_one_short_line(text: str) -> None:
    assert repr(SHOWN[text]()) == text


def test_gymnasium_environments_print_as_gymnasium_has_it() -> None:
    assert "monsterzoo/Pikit-v0" in str(gymnasium.make("monsterzoo/Pikit-v0", players=2))
