"""The picture: well-formed, with every queue in it, and drawn to scale."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tidegate.cli.main import main

SCENARIO = """\
kind: Scenario
metadata: {name: halves <&> "both"}
spec:
  nodes: [{name: n, allocatable: {cpu: "8"}}]
  objects:
  - {kind: Queue, metadata: {namespace: a, name: q}}
  - {kind: Queue, metadata: {namespace: b, name: q}}
  steps:
  - at: 0s
    submit: {name: a, queue: a/q, podSets: [{name: main, count: 8, minCount: 1, requests: {cpu: "1"}}]}
  - at: 50s
    submit: {name: b, queue: b/q, podSets: [{name: main, count: 8, minCount: 1, requests: {cpu: "1"}}]}
  - at: 100s
"""


@pytest.fixture
def picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    assert main(["simulate", str(tmp_path / "s.yaml"), "--plot", str(tmp_path / "out.svg")]) == 0
    return (tmp_path / "out.svg").read_text()


def test_it_is_xml_that_names_every_queue(picture: str) -> None:
    texts = {one.text for one in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")}
    assert {'halves <&> "both"', "a/q", "b/q", "allocated", "deserved", "100 %", "50 %"} <= texts


def test_heights_are_shares_and_widths_are_time(picture: str) -> None:
    """a has all until 50 s, then half: from the top to the middle of its panel, in the middle of its width."""
    area = re.search(r'class="held" d="M(\d+) (\d+)L\d+ (\d+)H(\d+)L\d+ (\d+)H(\d+)V', picture)
    assert area is not None
    left, base, whole, middle, half, right = map(int, area.groups())
    assert (base - whole) == 2 * (base - half)
    assert abs((middle - left) * 2 - (right - left)) <= 2


def test_it_can_be_read_in_the_dark(picture: str) -> None:
    assert "prefers-color-scheme:dark" in picture


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    assert main(["simulate", str(tmp_path / "s.yaml"), "--plot", str(tmp_path / "no" / "out.svg")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_every_colour_is_written_out(picture: str) -> None:
    """rsvg-convert, Inkscape and others know no variables: they drew everything black."""
    assert "var(" not in picture
    light = picture.partition("@media")[0]
    for name in ("text", ".faint", ".grid", ".held", ".due", ".wait", ".back"):
        assert re.search(rf"^{re.escape(name)}\{{.*#[0-9a-f]{{6}}", light, re.MULTILINE), name
