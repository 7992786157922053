"""Atomic writes and validated reads."""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Atomic replacement: a path to write to, renamed to `path` at the end unless an error is raised."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # else the name could be on the disk before the content
        os.replace(part, path)
    except BaseException as error:
        with suppress(OSError):  # where nothing can be written, there may be nothing to remove
            part.unlink()
        name_file(error, path)
        raise


def name_file(error: BaseException, path: Path) -> None:
    """Add the file's name to an error that lacks it, such as that of a full disk."""
    if isinstance(error, OSError) and error.errno and error.filename is None:
        error.filename = str(path)


def write_json(path: Path, content: Any) -> None:
    """Write JSON for people to read."""
    with replacing(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n")


def read_json(path: Path, what: str) -> dict[str, Any]:
    """The dict in a JSON file; raises `ValueError` naming the file if it is damaged."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, what, error) from error
    if not isinstance(content, dict):
        raise damaged(path, what, "it holds no JSON object")
    return content


def check_archive(path: Path) -> None:
    """Raise an error if a file is no zip archive, or one with damaged parts (torch does not compare checksums)."""
    with zipfile.ZipFile(path) as archive:
        broken = archive.testzip()
    if broken is not None:
        raise ValueError(f"{broken} is damaged")


def damaged(path: Path, what: str, problem: object) -> ValueError:
    """The error for a file that is not what it should be; the first line of the problem tells why."""
    reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
    return ValueError(f"{path} is not {what}, or it is damaged: {reason}")
