"""Files for GitHub, Docker, pre-commit and citation. What they start is not run here, their form is checked."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from monsterzoo.envs.version import VERSION
from monsterzoo.policies.networks import PRETRAINED, pretrained
from needs import ROOT, needs

needs("check_jsonschema")
yaml = needs("yaml")
SCHEMAS = {
    "github-workflows": sorted(ROOT.glob(".github/workflows/*.yml")),
    "dependabot": [ROOT / ".github/dependabot.yml"],
    "github-issue-forms": [p for p in sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")) if p.stem != "config"],
    "github-issue-config": [ROOT / ".github/ISSUE_TEMPLATE/config.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_file_has_the_form_that_its_reader_asks_for(schema: str) -> None:
    assert SCHEMAS[schema]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *SCHEMAS[schema]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_workflows_are_safe() -> None:
    zizmor = Path(sys.executable).with_name("zizmor")
    command = [zizmor, "--offline", "--no-progress", "--config", ".github/zizmor.yml", ".github"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_workflows_try_every_python_that_the_package_declares() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert matrix["python"] == declared == [row["python"] for row in matrix["include"]]
    for row in matrix["include"]:
        assert set(row["extras"].split(",")) <= project["optional-dependencies"].keys()


def test_what_workflows_and_containers_call_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    files = [*SCHEMAS["github-workflows"], ROOT / ".devcontainer/devcontainer.json", ROOT / "Dockerfile"]
    for file in files:
        for target in re.findall(r"\bmake ([a-z-]+)", file.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert (ROOT / ".ci/run").exists()
    json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))


def test_hooks_have_the_versions_of_the_tests() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert {package for hook in hooks for package in hook["additional_dependencies"]} <= set(pins)


def test_the_citation_is_of_this_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == VERSION


@pytest.mark.parametrize("model", pretrained(), ids=lambda model: model["file"])
def test_a_model_card_has_the_header_that_hubs_read(model) -> None:
    text = (PRETRAINED / "cards" / f"{Path(model['file']).stem}.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---")[1])
    assert (header["license"], header["library_name"]) == ("mit", "monsterzoo")
    (result,) = header["model-index"][0]["results"]
    assert {metric["name"]: metric["value"] for metric in result["metrics"]} == {
        f"win rate against {spec}": round(found["win_rate"], 4) for spec, found in model["arena"].items()
    }
