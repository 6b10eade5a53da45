"""Every scenario of tests/scenarios holds, run as a user would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tidegate.cli.main import main
from tidegate.sim.scenario.reading import read_scripts

FOLDER = Path(__file__).resolve().parents[1] / "scenarios"
FILES = sorted(FOLDER.rglob("*.yaml"))


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Any], str]:
    """Exit status, results and what was said on stderr."""
    status = main(["simulate", "-o", "json", *arguments])
    said = capsys.readouterr()
    return status, json.loads(said.out) if said.out else [], said.err


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_what_is_expected_is_so(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, results, said = simulated(capsys, str(path))
    failed = {result["scenario"] for result in results if not result["passed"]}
    assert not failed, said
    assert status == 0


def test_names_are_unique_and_every_scenario_expects_something() -> None:
    scripts = [script for path in FILES for script in read_scripts(path)]
    names = [script.name for script in scripts]
    assert len(set(names)) == len(names)
    assert all(any(moment.expected for moment in script.moments) for script in scripts)


def test_a_failed_expectation_is_exit_1_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (FOLDER / "drf-paper.yaml").read_text().replace("granted: {main: 3}", "granted: {main: 7}", 1)
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    status, results, said = simulated(capsys, str(path))
    assert status == 1
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "main: 7" in one)
    assert said == f"{path}:{line}: spec.steps[0].expect.a.granted.main: expected 7, found 3\n"
    assert [result["passed"] for result in results].count(False) == 1


def test_what_kubectl_get_writes_may_be_included(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`kubectl get queues -A -o yaml > queues.yaml` writes a List; it was refused as a kind that is not simulated."""
    (tmp_path / "queues.yaml").write_text(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: tidegate.dev/v1alpha1, kind: Queue, metadata: {namespace: a, name: q, uid: x}}\n"
        "- {apiVersion: tidegate.dev/v1alpha1, kind: Queue, metadata: {namespace: b, name: q}, spec: {wieght: 2}}\n"
    )
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "kind: Scenario\nmetadata: {name: x}\nspec:\n"
        "  include: [queues.yaml]\n"
        "  steps: [{at: 0s, expect: {queue a/q: {pending: 0}}}]\n"
    )
    status, _, said = simulated(capsys, str(path))
    assert status == 2
    assert said == f"{tmp_path / 'queues.yaml'}:5: items[1].spec.wieght: is not a field here; did you mean weight?\n"
    (tmp_path / "queues.yaml").write_text((tmp_path / "queues.yaml").read_text().replace("wieght", "weight"))
    status, _, said = simulated(capsys, str(path))
    assert status == 0, said
