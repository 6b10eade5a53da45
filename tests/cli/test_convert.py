"""`tidegate convert` as a person uses it, and there and back."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tidegate.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "03-other-schedulers"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(list(arguments))
    except SystemExit as ended:
        code = int(ended.code or 0)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    return code, shown.out, shown.err


def test_kueues_queues_become_tidegates(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "convert", "--from", "kueue", str(EXAMPLES / "kueue.yaml"))
    assert code == 0
    found = {f"{obj['kind']} {obj['metadata']['name']}": obj.get("spec") for obj in yaml.safe_load_all(out)}
    assert list(found) == ["ResourceFlavor default", "ClusterQueue company", "ClusterQueue research", "Queue default"]
    assert found["ClusterQueue research"] == {
        "parent": "company",
        "quotas": [
            {
                "flavor": "default",
                "resources": {"cpu": {"nominalQuota": "16", "borrowingLimit": "8"}, "memory": {"nominalQuota": "64Gi"}},
            }
        ],
        "preemption": {"withinQueue": "LowerPriority"},
        "namespaceSelector": {},
    }


def test_there_and_back_is_the_same_tree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, kueue, _ = run(capsys, "render", "--queues", "--for", "kueue", str(EXAMPLES / "queues.yaml"))
    (tmp_path / "kueue.yaml").write_text(kueue)
    _, back, _ = run(capsys, "convert", "--from", "kueue", str(tmp_path / "kueue.yaml"))
    (tmp_path / "back.yaml").write_text(back)
    code, said, _ = run(
        capsys,
        "render",
        "--queues",
        "--for",
        "kueue",
        "--check",
        str(tmp_path / "kueue.yaml"),
        str(tmp_path / "back.yaml"),
    )
    assert code == 0, said


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--from", "yunikorn", "x.yaml"], 2, '"yunikorn" is not known. Write kueue.'),
        (["x.yaml"], 2, "--from"),
        (["--from", "kueue", str(EXAMPLES / "ray.yaml")], 1, "The files have no queues of Kueue's."),
    ],
)
def test_each_mistake_is_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    found, _, err = run(capsys, "convert", *arguments)
    assert found == code
    assert said in err
