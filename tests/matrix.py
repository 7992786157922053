"""Conformance and batches with the oldest and the newest versions that `pyproject.toml` allows: `make test-matrix`.

Every Python on the PATH is tried, each twice in an environment of its own below `build/matrix`, made by uv.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "matrix"
PYTHONS = ["python3.11", "python3.12", "python3.13", "python3.14"]
UV = str(FOLDER / "uv" / "bin" / "uv")
DIRECT = ["numpy", "numba", "gymnasium", "pettingzoo"]
TESTS = ["tests/envs/test_conformance.py", "tests/envs/api/test_same_games.py", "tests/envs/api/test_batches.py"]


def is_there(python: str) -> bool:
    """Whether a Python starts; what is on the PATH may be a shim without one."""
    try:
        return not subprocess.run([python, "--version"], capture_output=True, check=False).returncode
    except FileNotFoundError:
        return False


def passes(python: str, resolution: str) -> bool:
    """Install with the lowest or the highest versions, and test."""
    place = FOLDER / f"{python}-{resolution}"
    own = str(place / "bin" / "python")
    install = [UV, "pip", "install", "--quiet", "--python", own]
    wheels = [word for name in (*DIRECT, "llvmlite") for word in ("--only-binary", name)]
    versions = f"from importlib.metadata import version; print(*(f'{{n}} {{version(n)}}' for n in {DIRECT}))"
    steps = [
        [UV, "venv", "--quiet", "--clear", "--python", python, str(place)],
        [*install, "--resolution", resolution, *wheels, "--editable", str(ROOT)],
        [*install, "pytest", "pytest-xdist", "hypothesis"],
        [own, "-c", versions],
        [own, "-m", "pytest", "-q", "-m", "not slow", *TESTS],
    ]
    return all(not subprocess.run(step, cwd=ROOT, check=False).returncode for step in steps)


def main() -> int:
    """Print what passed; 1 if something failed."""
    fetch = [
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--upgrade",
        "--target",
        str(FOLDER / "uv"),
        "uv",
    ]
    subprocess.run([sys.executable, "-m", *fetch], check=True)
    results = {}
    for python in filter(is_there, PYTHONS):
        for resolution in ("lowest-direct", "highest"):
            print(f"{python}, {resolution}", flush=True)
            results[python, resolution] = passes(python, resolution)
    for (python, resolution), passed in results.items():
        print(f"{python}, {resolution}: {'passed' if passed else 'FAILED'}")
    print(f"not found: {', '.join(python for python in PYTHONS if not is_there(python)) or 'none'}")
    return not all(results.values())


if __name__ == "__main__":
    sys.exit(main())
