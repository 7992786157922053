"""Wheel and sdist hold everything, and what they install plays games far from the checkout."""

import email
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from monsterzoo.envs import names
from monsterzoo.envs.version import VERSION
from needs import ROOT, needs_checkout
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = [needs_checkout, pytest.mark.slow]
FOLDERS = ("envs", "policies", "training", "benchmarks")
DATA = {".py", ".md", ".json", ".npz", ".typed", ".html", ".css", ".js", ".svg"}
IGNORED = shutil.ignore_patterns(".?*", "__pycache__", "build", "dist", "*.egg-info")

PLAY = """
import sys
import monsterzoo.envs as mz
for name in sys.argv[1:]:
    env = mz.make(name)
    env.reset(seed=1)
    for _ in range(100_000):
        observation, reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            break
        env.step(int(observation["action_mask"].argmax()))
    print(name, mz.__file__, terminated or truncated)
"""


def run(*command: object, cwd: Path, **environment: str) -> str:
    result = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel made from it; numba and numpy cannot be imported meanwhile."""
    checkout = tmp_path_factory.mktemp("checkout") / "monsterzoo"
    shutil.copytree(ROOT, checkout, ignore=IGNORED)
    poison = tmp_path_factory.mktemp("poison")
    for name in ("numba", "numpy"):
        (poison / f"{name}.py").write_text(f"raise ImportError('building must not import {name}')\n")
    run(sys.executable, "-m", "build", "--no-isolation", checkout, cwd=poison, PYTHONPATH=str(poison))
    return checkout / "dist"


def wheel_of(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that holds the wheel; third-party packages are those of this environment."""
    home = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(home, symlinks=os.name != "nt")
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ("-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index")
    run(sys.executable, *install, wheel_of(built), cwd=home)
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).strip()
    # A plain path: the .pth files over there (an editable install of the checkout) do not count here.
    Path(packages, "third_party.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_wheel_holds_every_module_and_data_file(built: Path) -> None:
    wanted = {
        f"monsterzoo/{path.relative_to(home).as_posix()}"
        for home, folders in ((ROOT, FOLDERS), (ROOT / "src" / "monsterzoo", (".",)))
        for folder in folders
        for path in (home / folder).rglob("*")
        if path.suffix in DATA and path.parent.name != "results"
    }
    with zipfile.ZipFile(wheel_of(built)) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == wanted


def test_wheel_says_who_it_is(built: Path) -> None:
    with zipfile.ZipFile(wheel_of(built)) as wheel:
        file = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(wheel.read(file))
        assert any(name.endswith("/LICENSE") for name in wheel.namelist())
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == "MIT"
    assert {"train", "test", "render", "play"} <= set(metadata.get_all("Provides-Extra", []))


def test_sdist_holds_what_its_own_tests_need(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        held = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    for file in ("README.md", "CHANGELOG.md", "LICENSE", "Makefile", "constraints.txt", "setup.py", "pyproject.toml"):
        assert file in held
    tests = {f"tests/{p.relative_to(ROOT / 'tests').as_posix()}" for p in (ROOT / "tests").rglob("*.py")}
    golden = {f"tests/playthroughs/{path.name}" for path in (ROOT / "tests" / "playthroughs").iterdir()}
    tools = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tools").rglob("*.py")}
    guides = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert tests | golden | tools | guides | {"benchmarks/results/throughput.png", "src/monsterzoo/__init__.py"} <= held


def test_installed_wheel_plays_from_another_folder(installed: Path, tmp_path: Path) -> None:
    outside = {"PYTHONPATH": "", "NUMBA_DISABLE_JIT": "1"}
    played = [line.split() for line in run(installed, "-c", PLAY, *names(), cwd=tmp_path, **outside).splitlines()]
    assert [(name, over) for name, _, over in played] == [(name, "True") for name in names()]
    assert all(Path(file).is_relative_to(installed.parents[1]) for _, file, _ in played)


def test_installed_wheel_has_its_front_and_its_command(installed: Path, tmp_path: Path) -> None:
    outside = {"PYTHONPATH": "", "NUMBA_DISABLE_JIT": "1"}
    code = "import monsterzoo; print(monsterzoo.__version__, monsterzoo.__file__, *monsterzoo.names())"
    version, file, *found = run(installed, "-c", code, cwd=tmp_path, **outside).split()
    assert (version, found) == (VERSION, names())
    assert Path(file).is_relative_to(installed.parents[1])
    assert run(installed.parent / "monsterzoo", "--version", cwd=tmp_path, **outside) == f"monsterzoo {VERSION}\n"
    rules = run(installed.parent / "monsterzoo", "games", "pikit_v0", "--rules", cwd=tmp_path, **outside)
    assert "# Pikit" in rules, "the rules come with the wheel"


def test_installed_wheel_compiles_and_plays(installed: Path, tmp_path: Path) -> None:
    outside = {"PYTHONPATH": "", "MONSTERZOO_CACHE_DIR": str(tmp_path / "cache")}
    _, file, over = run(installed, "-c", PLAY, names()[-1], cwd=tmp_path, **outside).split()
    assert Path(file).is_relative_to(installed.parents[1])
    assert over == "True"
    assert list((tmp_path / "cache").rglob("*.nbc")), "the machine code was not kept"


def test_declared_commands_exist() -> None:
    for target in _project()["scripts"].values():
        module, function = target.split(":")
        assert callable(getattr(import_module(module), function))


LIBRARIES = sorted(path.stem for path in (ROOT / "constraints").glob("*.txt"))
"""Libraries with environments, and pins, of their own."""


@pytest.mark.parametrize("library", [None, *LIBRARIES])
def test_no_pin_contradicts_the_declared_ranges(library: str | None) -> None:
    pins, project = _pins(library), _project()
    extras = project["optional-dependencies"]
    wanted = [
        *extras["train"],
        *extras["test"],
        *(extras[library.rstrip("1")] if library else extras["render"] + extras["play"]),
    ]
    for text in [*project["dependencies"], *wanted]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), text
    assert pins["torch"] == "2.13.0"  # others bring gigabytes of CUDA along


def test_rllib_has_the_usual_versions_but_for_gymnasium() -> None:
    usual, own = _pins(None), _pins("rllib")
    assert {name for name in usual if usual[name] != own.get(name)} == {"gymnasium"}


def _pins(library: str | None) -> dict[str, str]:
    return _read_pins(ROOT / ("constraints.txt" if library is None else f"constraints/{library}.txt"))


def _read_pins(file: Path) -> dict[str, str]:
    """Versions by name, those of the files it builds on included."""
    pins: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-c "):
            pins |= _read_pins(file.parent / line[3:])
        elif line and not line.startswith("#"):
            name, version = line.split("==")
            pins[canonicalize_name(name)] = version
    return pins


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project
