"""The pages on fairness and simulating: pictures are current, every reason is explained, examples hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tidegate.cli.main import main
from tidegate.model.kinds.workload import WaitingReason
from tidegate.sim.scenario.reading import read_scripts

ROOT = Path(__file__).resolve().parents[2]
PICTURES = sorted((ROOT / "docs" / "concepts" / "pictures").glob("*.yaml"))
EXAMPLES = ROOT / "examples" / "02-simulate"


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_the_pictures_are_what_the_simulator_draws_now(path: Path, tmp_path: Path) -> None:
    """Renew one with: tidegate simulate docs/concepts/pictures/NAME.yaml --plot docs/concepts/pictures/NAME.svg"""
    assert main(["simulate", str(path), "--plot", str(tmp_path / "now.svg")]) == 0
    assert path.with_suffix(".svg").read_text() == (tmp_path / "now.svg").read_text()
    assert f"pictures/{path.stem}.svg" in (ROOT / "docs/concepts/fairness.md").read_text()


def test_every_reason_is_explained_one_by_one() -> None:
    page = (ROOT / "docs/concepts/waiting-reasons.md").read_text()
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == [reason.value for reason in WaitingReason]


@pytest.mark.parametrize("name", ["two-teams.yaml", "busy-day.yaml"])
def test_the_examples_hold(name: str) -> None:
    assert main(["simulate", str(EXAMPLES / name)]) == 0


def test_the_commands_of_the_pages_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `$ tidegate simulate …` of the how-to and the example, from the repository's root."""
    pages = [ROOT / "docs/how-to/simulate.md", EXAMPLES / "README.md"]
    text = "\n".join(page.read_text() for page in pages)
    lines = set(re.findall(r"^\$ tidegate (simulate .+)$", text, re.MULTILINE))
    monkeypatch.chdir(ROOT)
    assert lines
    for line in sorted(lines):
        assert main(line.replace("busy-day.svg", str(tmp_path / "busy-day.svg")).split()) == 0, line


def test_the_snippets_of_the_page_are_scenarios(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/simulate.md").read_text()
    first = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0]
    (tmp_path / "queues.yaml").write_text("kind: Queue\nmetadata: {namespace: b, name: default}\n")
    (tmp_path / "snippet.yaml").write_text(first)
    assert read_scripts(tmp_path / "snippet.yaml")[0].name == "two-teams-share"
