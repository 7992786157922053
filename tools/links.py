"""Replace the links of `.typecheck` by copies where Git made none: `python tools/links.py`.

Git without symbolic links (Windows without developer mode) leaves a file that holds the link's target as text.
"""

import shutil
from pathlib import Path


def repair(folder: Path) -> list[Path]:
    """Put what it points to in the place of every link that is only text; returns these places."""
    repaired = []
    for path in [one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()]:
        target = path.parent / path.read_text(encoding="utf-8").strip()
        if target.exists():
            path.unlink()
            (shutil.copytree if target.is_dir() else shutil.copyfile)(target, path)
            repaired.append(path)
    return repaired


if __name__ == "__main__":
    print(*repair(Path(__file__).resolve().parents[1] / ".typecheck"), sep="\n")
