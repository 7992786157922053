"""Where the packages are: the folders at the top level install as `monsterzoo.<folder>`."""

from setuptools import find_packages, setup

FOLDERS = ("envs", "policies", "training", "benchmarks")

setup(
    packages=[
        f"monsterzoo.{package}" for folder in FOLDERS for package in find_packages(include=[folder, f"{folder}.*"])
    ],
    package_dir={f"monsterzoo.{folder}": folder for folder in FOLDERS},
)
