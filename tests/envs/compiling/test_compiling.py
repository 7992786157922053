"""Notes while numba compiles, compiling ahead, modes of compilation, and a cache that fails."""

import json
import os
import runpy
import shutil
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from monsterzoo.benchmarks import coldstart
from monsterzoo.envs.compiling import cache as cache_module
from monsterzoo.envs.compiling import notice
from monsterzoo.envs.compiling.jit import JIT_OFF, kernel
from needs import needs
from toys import write_game

pytestmark = pytest.mark.slow


@pytest.fixture
def early_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print the note after a moment."""
    monkeypatch.setattr(notice, "DELAY", 0.05)
    monkeypatch.setattr(notice, "_noted", set())
    monkeypatch.setattr(notice, "_off", threading.Event())


def next_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed to stderr next; a busy machine may take its time."""
    told, end = "", time.monotonic() + 20
    while not told.endswith("\n") and time.monotonic() < end:
        time.sleep(0.01)
        told += capsys.readouterr().err
    return told


def test_long_compiling_is_announced_once(early_notice: None, capsys: pytest.CaptureFixture[str]) -> None:
    with notice.compile_notice("whist", 5):
        told = next_line(capsys)
    assert told == "monsterzoo: compiling whist, about 5 s; later runs use the cache\n"
    with notice.compile_notice("whist", 5):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_short_compiling_is_not_mentioned(
    early_notice: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice, "DELAY", 0.5)
    with notice.compile_notice("whist", 5):
        pass
    time.sleep(0.7)
    assert capsys.readouterr().err == ""


def test_a_kernel_within_a_kernel_is_part_of_it(early_notice: None, capsys: pytest.CaptureFixture[str]) -> None:
    with notice.compile_notice("whist", 5), notice.compile_notice("bridge", 5):
        told = next_line(capsys)
        time.sleep(0.2)
    assert "whist" in told
    assert "bridge" not in told + capsys.readouterr().err


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled")
def test_kernels_announce_that_they_are_compiled(
    early_notice: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(notice, "DELAY", 0.001)

    @kernel
    def double(values):
        for i in range(len(values)):
            values[i] *= 2

    double(np.arange(3))
    assert "monsterzoo: compiling policies, test_compiling, about" in capsys.readouterr().err
    double(np.arange(3))
    assert capsys.readouterr().err == ""


def test_nothing_is_compiled_ahead_where_nothing_is_compiled() -> None:
    command = [sys.executable, "-m", "monsterzoo.cli", "compile", "pikit_v0"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    refused = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "NUMBA_DISABLE_JIT is set" in refused.stderr


_BEYOND = """
import numpy as np
from monsterzoo.envs.compiling.jit import compiled, kernel

@compiled
def inner(values, place):
    return values[place]

@kernel
def outer(values, place):
    return inner(values, place)

print(outer(np.arange(3), 1))
outer(np.arange(3), 7)
"""


def test_bounds_are_checked_on_request(tmp_path: Path) -> None:
    script = tmp_path / "beyond.py"
    script.write_text(_BEYOND)
    settings = {**os.environ, "MONSTERZOO_CACHE_DIR": str(tmp_path / "cache")}
    for checks, error in (("0", ""), ("1", "IndexError: index is out of bounds")):
        environment = {**settings, "MONSTERZOO_CHECKS": checks}
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "1\n"
        assert done.stderr.strip().endswith(error)
        assert bool(done.returncode) == bool(error)


_EDITED = """
import sys
from pathlib import Path
import numpy as np
from monsterzoo.envs.compiling.jit import kernel

@kernel
def answer(values):
    return values[0] + 1

if len(sys.argv) > 1:  # somebody edits the file while the process goes on
    Path(__file__).write_text(Path(__file__).read_text().replace("values[0] + 1", "values[0] + 2"))
print(answer(np.zeros(1, np.int64)))
"""


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled")
def test_code_of_sources_that_were_edited_meanwhile_is_not_kept_for_the_new_ones(tmp_path: Path) -> None:
    script = tmp_path / "edited.py"
    script.write_text(_EDITED)
    environment = {**os.environ, "MONSTERZOO_CACHE_DIR": str(tmp_path / "cache")}
    for words, answer in ((["edit"], "1\n"), ([], "2\n")):
        command = [sys.executable, script, *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == answer, done.stderr


def test_a_cold_start_is_measured_in_a_process_of_its_own() -> None:
    busy = coldstart.processor_seconds("sum(range(20_000_000))")
    assert busy > 0.05
    assert coldstart.processor_seconds("time.sleep(0.2)") < 0.15
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        coldstart.processor_seconds("1 / 0")


# --- Releases of numba that linking does not know ---

_PLAY = """
from race_cache import GAME
from monsterzoo.envs.api.aec import GameEnv
env = GameEnv(GAME)
env.reset(seed=0)
env.step(1)
env.step(0)
print(*env.observe("player_0")["observation"])
"""
_RELEASES = {
    "without code libraries": "import numba.core.codegen; del numba.core.codegen.JITCodeLibrary",
    "with other code libraries": (
        "import monsterzoo.envs.compiling.linking as linking; linking.TESTED = (0, 0); del linking._Part.own_module"
    ),
    "newer": "import monsterzoo.envs.compiling.linking as linking; linking.TESTED = (0, 0)",
    "without options": (
        "from numba.core.cpu import CPUTargetOptions; known = CPUTargetOptions.__bases__[0]; "
        "del known._nrt, known.no_cfunc_wrapper"
    ),
}


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small game."""
    folder = tmp_path_factory.mktemp("race")
    write_game(folder, "race_cache")
    return folder


def _play(race: Path, cache: Path, before: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "MONSTERZOO_CACHE_DIR": str(cache), "PYTHONPATH": str(race)}
    command = [sys.executable, "-c", before + _PLAY]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def expected(race: Path) -> str:
    """What the game prints with this release."""
    return _play(race, race / "cache", "").stdout


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled")
@pytest.mark.parametrize("release", _RELEASES)
def test_other_releases_of_numba_play_the_same_games(race: Path, expected: str, tmp_path: Path, release: str) -> None:
    done = _play(race, tmp_path, _RELEASES[release])
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected
    assert expected.split()[0] == "3", "where the race stands after two steps"
    assert done.stderr.count("compiling is slower with numba") == ("code libraries" in release), done.stderr


# --- Whatever happens to the cache: a script with one kernel ---

_SUM = """
import signal
import numpy as np
from monsterzoo.envs.compiling.jit import compiled, kernel

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

@compiled
def square(value):
    return value * value

@kernel
def sum_of_squares(values):
    total = 0
    for value in values:
        total += square(value)
    return total

print(sum_of_squares(np.arange(4)))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A script that prints 14."""
    path = tmp_path_factory.mktemp("script") / "squares.py"
    path.write_text(_SUM)
    return path


def _run(script: Path, cache: Path, file_size: int = 0) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        import resource

        if file_size:  # stands for a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size,) * 2)

    settings = {**os.environ, "MONSTERZOO_CACHE_DIR": str(cache)}
    command = [sys.executable, script]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (0, "14\n"), done.stderr
    return done


@pytest.fixture(scope="module")
def whole(script: Path) -> Path:
    """A cache with the script's code."""
    cache = script.parent / "cache"
    _run(script, cache)
    return cache


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are set the Unix way")
def test_a_full_disk_only_costs_compiling_again(script: Path, tmp_path: Path) -> None:
    done = _run(script, tmp_path / "cache", file_size=2_000)
    assert done.stderr.count("compiled code cannot be kept in") == 1


def test_a_folder_that_cannot_be_used_only_costs_compiling_again(script: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = _run(script, tmp_path / "file")
    assert done.stderr.count("compiled code cannot be kept in") == 1
    assert "MONSTERZOO_CACHE_DIR" in done.stderr


@pytest.mark.skipif(JIT_OFF, reason="nothing is compiled")
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["cut", "empty", "garbage"])
def test_damaged_files_are_replaced(
    script: Path,
    whole: Path,
    tmp_path: Path,
    kind: str,
    damage: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cache = shutil.copytree(whole, tmp_path / "cache")
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(cache))
    files = list(cache.rglob(f"*.{kind}"))
    assert files
    for file in files:
        good = file.read_bytes()
        file.write_bytes({"cut": good[: len(good) // 2], "empty": b"", "garbage": b"\x93" * len(good)}[damage])
    for complaints in (1, 0):  # once, and then the files are whole again
        cache_module._folder.cache_clear()  # as in a new process, which takes much longer
        cache_module._cache_in.cache_clear()
        monkeypatch.setattr(notice, "_warned", set())
        runpy.run_path(str(script))
        told = capsys.readouterr()
        assert told.out == "14\n"
        assert told.err.count("cannot be read") == complaints, told.err


def test_two_processes_that_compile_at_once_do_not_disturb_each_other(script: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: _run(script, tmp_path / "cache"), range(2)))
    assert "cannot be" not in _run(script, tmp_path / "cache").stderr


@pytest.mark.skipif(JIT_OFF or not hasattr(os, "geteuid"), reason="nothing is compiled, or there are no modes")
@pytest.mark.parametrize("inner", [False, True], ids=["the root", "a folder in it"])
def test_code_that_others_could_have_planted_is_neither_run_nor_replaced(
    script: Path, whole: Path, tmp_path: Path, inner: bool
) -> None:
    cache = shutil.copytree(whole, tmp_path / "cache")
    planted = dict.fromkeys(cache.rglob("*.nb?"), b"planted")
    for file, content in planted.items():
        file.write_bytes(content)
    for folder in cache.iterdir() if inner else [cache]:
        folder.chmod(0o770)
    done = _run(script, cache)
    assert done.stderr.count("(others may write to") == 1, done.stderr
    assert "cannot be read" not in done.stderr
    assert {file: file.read_bytes() for file in cache.rglob("*.nb?")} == planted


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners and modes here")
def test_only_folders_of_the_users_own_keep_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    danger = cache_module._danger
    own = tmp_path / "cache" / "digest"
    assert danger(own) == ""
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (own.parent, own)] == [0o700, 0o700]
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    assert "others may replace what is in" in danger(tmp_path / "open" / "cache" / "digest")
    (tmp_path / "open").chmod(0o1777)  # as /tmp: others cannot
    assert danger(tmp_path / "open" / "cache" / "digest") == ""
    (tmp_path / "link").symlink_to(tmp_path / "open")
    monkeypatch.setenv("MONSTERZOO_CACHE_DIR", str(tmp_path / "link" / "cache"))
    assert cache_module.cache_root() == (tmp_path / "open" / "cache").resolve(), "a link may lead elsewhere later"
    whose = os.stat(tmp_path).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: whose + 1)
    assert "belongs to somebody else" in danger(own)
    stat_of = Path.stat

    def above(path: Path, **more: object) -> os.stat_result:
        found = list(stat_of(path, **more))  # type: ignore[arg-type]
        found[stat.ST_UID] = whose + 2 if path == tmp_path else whose + 1
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", above)
    assert f"others may replace what is in {tmp_path}" in danger(own)


def test_a_folder_that_others_may_write_by_now_is_read_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module.FunctionCache, "load_overload", lambda *_: "planted")
    kept = object.__new__(cache_module._KeptCode)
    kept._cache_path = str(tmp_path / "cache" / "digest" / "kernel")
    assert kept.load_overload(None, None) == "planted"
    (tmp_path / "cache").chmod(0o777)
    assert kept.load_overload(None, None) is None


_AHEAD = """
import json, sys
from monsterzoo.cli import main
from monsterzoo.envs.compiling import jit

new, compile_or_load = [], jit._Kernel.compile

def noted(kernel, arguments):
    before = len(kernel.overloads)
    entry = compile_or_load(kernel, arguments)
    if len(kernel.overloads) > before:
        new.append(kernel.__name__)
    return entry

jit._Kernel.compile = noted
for words in sys.argv[1:]:
    new.clear()
    assert main(words.split()) == 0
    print(json.dumps(new), file=sys.stderr)
"""
_COMMANDS = (
    "train pikit_v0 --players 2 --updates 1 --num-envs 8 --evaluate-games 8",
    "arena pikit_v0 --players 2 --games 24 --policies random heuristic pretrained",
    "arena pikit_v0 --players 2 --games 24 --policies net:runs/latest search:2",
)


def test_commands_use_nothing_that_is_not_compiled_ahead(tmp_path: Path) -> None:
    """Kernels and types of their arguments, compiled or loaded: in one process, where the commands bring no others."""
    needs("torch")
    words = [sys.executable, "-c", _AHEAD, "compile pikit_v0", *_COMMANDS]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for stage in ("one game", "batches", "one seat", "search", "arena", "training", "s in all; kept in"):
        assert stage in done.stdout
    ahead, *later = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[")]
    assert {"play_on", "run"} <= set(ahead)
    assert later == [[] for _ in _COMMANDS]
