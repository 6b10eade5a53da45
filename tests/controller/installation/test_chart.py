"""The Helm chart installs what `tidegate install` does: rendered, it is the same objects for the same choices."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.dialects.peers.programs import program
from tidegate.controller.installation.deployment import Choice
from tidegate.controller.installation.objects import around
from tidegate.model.jobs import builtin, parse_kinds

Json = Any
ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy/chart"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
CHOICES = [
    {},
    {"image": "registry.example.com/tidegate:1", "replicas": 3, "manage": "all", "pullPolicy": "Always"},
]
OWN = """
kinds:
- {kind: Sweep, group: own.example.com, versions: [v1], plural: sweeps, podSets: [{template: .spec.trial}]}
- kind: Trial
  group: own.example.com
  versions: [v1]
  plural: trials
  refers: {name: .spec.ref, kind: .spec.kind, kinds: [Runtime]}
  podSets: [{template: ^.spec.template}]
"""


def chosen(values: Json) -> Choice:
    said = VALUES | values
    everywhere = said["manage"] == "all"
    return Choice(said["image"], "team-batch", everywhere, said["replicas"], said["pullPolicy"])


def installed(choice: Choice, own: str = "") -> dict[tuple[str, str], Json]:
    """What `tidegate install` writes, but for the namespace, which Helm makes."""
    kinds = builtin().with_more(parse_kinds(yaml.safe_load(own))) if own else builtin()
    made = around(kinds, replace(choice, kinds=(own,) if own else ()))
    return {(each["kind"], each["metadata"]["name"]): each for each in made if each["kind"] != "Namespace"}


def read(text: str) -> dict[tuple[str, str], Json]:
    return {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text) if each}


def without_kinds(text: str, values: Json) -> str:
    """As Helm renders it where nobody has kinds of his own: a few values, and nothing under a condition."""
    text = re.sub(
        r"\{\{- (?:if|range) \.Values\.kinds \}\}.*?\{\{- end \}\}\{\{/\* kinds \*/\}\}\n", "", text, flags=re.S
    )
    said = {f".Values.{name}": value for name, value in values.items()} | {".Release.Namespace": "team-batch"}
    text = re.sub(r"\{\{ (\S+) \| quote \}\}", lambda found: json.dumps(said[found[1]]), text)
    return re.sub(r"\{\{ (\S+) \}\}", lambda found: str(said[found[1]]), text)


@pytest.mark.parametrize("values", CHOICES, ids=["as it comes", "chosen"])
def test_the_chart_is_what_install_writes(values: Json) -> None:
    template = (CHART / "templates/tidegate.yaml").read_text()
    assert read(without_kinds(template, VALUES | values)) == installed(chosen(values))


def test_the_chart_brings_the_definitions_of_the_same_version() -> None:
    for file in (ROOT / "deploy/crds").iterdir():
        assert (CHART / "crds" / file.name).read_text() == file.read_text()
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert VALUES["image"] == f"tidegate:{about['appVersion']}"
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema["properties"].keys() - {"global"} == VALUES.keys()


def rendered(values: Json) -> dict[tuple[str, str], Json]:
    command = [str(program("helm-template")), str(CHART), "tidegate", "team-batch"]
    done = subprocess.run(command, input=yaml.safe_dump(values), capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr)
    return read(done.stdout)


@pytest.mark.kube
@pytest.mark.parametrize("values", CHOICES, ids=["as it comes", "chosen"])
def test_helm_renders_what_install_writes(values: Json) -> None:
    assert rendered(values) == installed(chosen(values))


@pytest.mark.kube
def test_helm_renders_kinds_of_ones_own_with_the_rights_they_need() -> None:
    ours, theirs = installed(chosen({}), OWN), rendered({"kinds": yaml.safe_load(OWN)["kinds"]})
    assert theirs.keys() == ours.keys()
    data = theirs["ConfigMap", "tidegate-kinds"].pop("data")
    assert {name: yaml.safe_load(text) for name, text in data.items()} == {"0.yaml": yaml.safe_load(OWN)}
    del ours["ConfigMap", "tidegate-kinds"]["data"]
    rules, wanted = (each["ClusterRole", "tidegate"].pop("rules") for each in (theirs, ours))
    assert _rights(rules) == _rights(wanted)
    assert theirs == ours


def _rights(rules: list[Json]) -> set[tuple[str, str, str]]:
    """Group, resource and verb: rules may be cut in other ways."""
    return {
        (group, resource, verb)
        for rule in rules
        if "resourceNames" not in rule
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.kube
@pytest.mark.parametrize("wrong", [{"manage": "some"}, {"replicas": 0}, {"image": ""}, {"imagee": "x"}])
def test_helm_refuses_what_nobody_can_have_meant(wrong: Json) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        rendered(wrong)
