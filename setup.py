"""Where the packages are: folders at the top level install as `monsterzoo.<folder>`, `src/monsterzoo` above them."""

from setuptools import find_packages, setup

FOLDERS = ("envs", "policies", "training", "benchmarks")

setup(
    packages=[
        *find_packages("src"),
        *(f"monsterzoo.{package}" for folder in FOLDERS for package in find_packages(include=[folder, f"{folder}.*"])),
    ],
    package_dir={"monsterzoo": "src/monsterzoo", **{f"monsterzoo.{folder}": folder for folder in FOLDERS}},
)
