"""A dialect of a third party: a class with three steps, found by an entry point of an installed package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.model.jobs.samples import sample
from tidegate.dialects import BUILTIN, Dialect, DialectError, Submission, dialect_named, render

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "03-other-schedulers" / "own_dialect.py"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path that looks as pip leaves it."""
    (tmp_path / "own_dialect.py").write_text(EXAMPLE.read_text())
    metadata = tmp_path / "own_dialect-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: own-dialect\nVersion: 1.0\n")
    named = {"nightshift": "NightShift", "broken": "Missing", "wrong": "QUEUE"}
    points = [f"{name} = own_dialect:{what}" for name, what in named.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[tidegate.dialects]", *points, ""]))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("own_dialect", None)


def test_it_is_found_and_used_like_those_built_in(installed: Path) -> None:
    done = render(sample("RayCluster"), Submission(organisation="org1"), "nightshift")
    labels = done.object["spec"]["workerGroupSpecs"][0]["template"]["metadata"]["labels"]
    assert labels["nightshift.example.com/queue"] == "org1-ray"
    assert done.object["spec"]["headGroupSpec"]["template"]["spec"]["schedulerName"] == "nightshift"
    assert [str(note) for note in done.dropped] == ["dropped: gang: nightshift starts pods one by one"]


@pytest.mark.parametrize(
    ("name", "said"), [("broken", "cannot be loaded"), ("wrong", "must have a name"), ("absent", "nightshift")]
)
def test_one_that_cannot_be_used_is_named(installed: Path, name: str, said: str) -> None:
    with pytest.raises(DialectError, match=said):
        dialect_named(name)


@pytest.mark.parametrize("name", BUILTIN)
def test_those_built_in_are_dialects_without_state(name: str) -> None:
    dialect = dialect_named(name)
    assert isinstance(dialect, Dialect)
    assert dialect.name == name
    assert not vars(dialect)


def test_concurrent_submissions_do_not_mix() -> None:
    """The seed's plugins kept labels in themselves; here, whoever renders at the same time gets his own."""

    def queue(number: int) -> str:
        done = render(sample("Job"), Submission(organisation=f"org{number}", id=str(number)), "yunikorn").object
        labels = done["spec"]["template"]["metadata"]["labels"]
        return f"{labels['queue']} {labels['applicationId']}"

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(queue, range(64))) == [f"root.org{number}.job job-{number}" for number in range(64)]
