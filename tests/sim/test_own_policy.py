"""A policy of a third party: one class, found by an entry point of an installed package, tried in the simulator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "04-own-policy"


def simulate(tmp_path: Path, points: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """With a folder on the path that looks as pip leaves it."""
    (tmp_path / "smallest_first.py").write_text((EXAMPLE / "smallest_first.py").read_text())
    metadata = tmp_path / "smallest_first-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: smallest-first\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[tidegate.policies]\n{points}\n")
    command = [sys.executable, "-m", "tidegate.cli.main", "simulate", str(EXAMPLE / "queues.yaml"), *arguments]
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)


def test_it_is_found_and_used_like_those_built_in(tmp_path: Path) -> None:
    done = simulate(tmp_path, "smallest-first = smallest_first:SmallestFirst")
    assert done.returncode == 0, done.stdout + done.stderr


def test_another_policy_decides_otherwise(tmp_path: Path) -> None:
    done = simulate(tmp_path, "smallest-first = smallest_first:SmallestFirst", "--policy", "fifo")
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.mark.parametrize("points", ["broken = smallest_first:Missing", "wrong = smallest_first:Candidate"])
def test_one_that_cannot_be_used_is_named(tmp_path: Path, points: str) -> None:
    done = simulate(tmp_path, points)
    assert done.returncode == 2, done.stdout + done.stderr
    assert points.partition(" ")[0] in done.stderr
    assert "Traceback" not in done.stderr


def test_one_that_does_not_answer_is_named(tmp_path: Path) -> None:
    """It was called a mistake of Tidegate's own."""
    (tmp_path / "silent.py").write_text("class Silent:\n    def order(self, candidate):\n        raise KeyError('x')\n")
    done = simulate(tmp_path, "smallest-first = silent:Silent")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tidegate: policy \"smallest-first\" (silent:Silent) does not answer (KeyError: 'x'). "
        "Mend or remove the package that offers it.\n"
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            "candidate.pods if candidate.pods > 1 else candidate.name",
            "TypeError: '<' not supported between instances of",
        ),
        ("float('nan')", "ValueError: nan has no place in an order"),
    ],
)
def test_one_whose_answers_have_no_order_is_named(tmp_path: Path, answer: str, said: str) -> None:
    """It was called a mistake of Tidegate's own, or served by chance."""
    code = f"class Odd:\n    def order(self, candidate):\n        return {answer}\n"
    (tmp_path / "odd.py").write_text(code)
    done = simulate(tmp_path, "smallest-first = odd:Odd")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f'tidegate: policy "smallest-first" (odd:Odd) does not answer ({said}')
    assert done.stderr.count("\n") == 1


def test_the_example_on_the_page_is_the_file() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "how-to" / "own-policy.md").read_text()
    code = (EXAMPLE / "smallest_first.py").read_text()
    assert code[code.index("from tidegate") :].strip() in page
