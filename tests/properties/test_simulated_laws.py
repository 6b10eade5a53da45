"""Whole days by chance, with pods that take time to come and go: laws 1 to 4 are checked at every plan."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.scheduler import BUILT_IN
from tidegate.sim.scenario.playing import play
from tidegate.sim.scenario.reading import read_scripts

EXAMPLES = max(1, int(os.environ.get("TIDEGATE_HISTORIES", "30")) // 6)
"""Each is a history of hundreds of plans."""

QUANTITY = st.integers(0, 8).map(str)


def rules() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"weight": st.integers(1, 3)},
        optional={
            "ordering": st.sampled_from(["BestEffort", "Strict"]),
            "patience": st.sampled_from(["1m", "10m", "1h"]),
            "preemption": st.fixed_dictionaries(
                {
                    "withinQueue": st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
                    "acrossQueues": st.sampled_from(["Never", "LowerPriority", "FairShare"]),
                }
            ),
        },
    )


def quotas() -> st.SearchStrategy[list[dict[str, Any]]]:
    cpu = st.fixed_dictionaries(
        {"nominalQuota": QUANTITY}, optional={"borrowingLimit": QUANTITY, "lendingLimit": QUANTITY}
    )
    return st.one_of(st.just([]), cpu.map(lambda quota: [{"flavor": "default", "resources": {"cpu": quota}}]))


@st.composite
def days(draw: st.DrawFn) -> dict[str, Any]:
    """A Scenario: two ClusterQueues, three doors, and ten minutes of arrivals, resizes, failures and lost nodes."""
    objects: list[dict[str, Any]] = []
    for name, parent in (("x", "root"), ("y", draw(st.sampled_from(["root", "x"])))):
        spec = draw(rules()) | {"parent": parent, "quotas": draw(quotas())}
        objects.append({"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec})
    for namespace in "abc":
        door = {"clusterQueue": draw(st.sampled_from(["root", "x", "y"])), "weight": draw(st.integers(1, 2))}
        objects.append({"kind": "Queue", "metadata": {"namespace": namespace, "name": "q"}, "spec": door})
    shapes = [
        {
            "count": {"min": 1, "max": 8},
            "minCount": 1,
            "requests": {"cpu": "1", "memory": "2Gi"},
            "runs": {"mean": "2m"},
        },
        {"count": {"min": 1, "max": 4}, "requests": {"cpu": "2", "memory": "1Gi"}, "runs": {"min": "1m", "max": "4m"}},
        {"count": 4, "minCount": 2, "step": 2, "requests": {"cpu": "500m", "memory": "6Gi"}, "runs": "90s"},
    ]
    mix = [
        {"queue": f"{namespace}/q", "priority": draw(st.sampled_from([0, 0, 5])), "podSets": [shape]}
        for namespace, shape in zip("abc", draw(st.permutations(shapes)), strict=True)
    ]
    synthetic = {"arrivals": "6/m", "until": "10m", "resizes": "1/m", "podFailures": "1/m", "nodeLosses": "6/h"}
    return {
        "kind": "Scenario",
        "metadata": {"name": "a-day"},
        "spec": {
            "delays": draw(st.sampled_from([{}, {"start": "2s", "stop": "10s"}])),
            "nodes": [{"name": "n", "count": 3, "allocatable": {"cpu": "6", "memory": "24Gi"}}],
            "objects": objects,
            "synthetic": synthetic | {"mix": mix},
        },
    }


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(days(), st.integers(0, 2**16))
def test_no_day_breaks_a_law(tmp_path_factory: Any, day: dict[str, Any], seed: int) -> None:
    path: Path = tmp_path_factory.mktemp("day") / "day.yaml"
    path.write_text(yaml.safe_dump(day))
    check(path, seed)


@pytest.mark.parametrize(
    ("day", "seed"),
    [
        ("what-is-left-of-a-floor", 2),
        ("passed-and-taken-back", 55595),
        ("taken-and-not-needed", 519),
        ("given-for-nobody-in-the-end", 16469),
        ("half-a-step", 0),
        ("one-plan-late", 0),
        ("gone-with-the-gang", 716),
    ],
)
def test_days_that_once_did(day: str, seed: int) -> None:
    check(Path(__file__).parent / "days" / f"{day}.yaml", seed)


def check(path: Path, seed: int) -> None:
    (script,) = read_scripts(path)
    result = play(script, seed=seed, policies=BUILT_IN)
    assert not result.failures, [str(failure) for failure in result.failures]
