"""Exit codes of commands; errors that the user can mend become one line instead of a traceback."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from .extras import how_to_get
from .interrupts import ending


def exit_code(program: str, work: Callable[[Sequence[str]], int], words: Sequence[str]) -> int:
    """Run a program; returns its exit code.

    What the user can mend becomes one line and 2, a signal one line and 130 or 143, and if nobody reads the output any
    more it is 141. Errors that only we can mend are raised.
    """
    try:
        with ending():
            code = int(work(words))
            sys.stdout.flush()
            return code
    except KeyboardInterrupt as interruption:
        print(f"{program}: {str(interruption) or 'interrupted'}", file=sys.stderr)
        return int(getattr(interruption, "code", 130))
    except BrokenPipeError:
        with suppress(OSError):  # else Python complains when it closes stdout at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        problem = in_words(error)
        if problem is None:
            raise
        print(f"{program}: {problem}", file=sys.stderr)
        return 2


def in_words(error: Exception) -> str | None:
    """One sentence about an error that the user can mend; None about any other."""
    if isinstance(error, ValueError):
        return str(error)
    if isinstance(error, OSError):  # a folder that cannot be written to, a full disk
        reason = error.strerror or str(error)
        return reason if error.filename is None else f"{error.filename}: {reason}"
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):  # numpy's, and torch's RuntimeError
        return f"there is not enough memory for so much at once ({str(error).partition(' for an array')[0]:.150})"
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("monsterzoo"):
        return how_to_get(error.name)
    return None
