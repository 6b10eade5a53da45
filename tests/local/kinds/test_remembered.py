"""Judgements that are remembered: the same as if asked anew, and asked once for replicas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.local.kinds import ours
from tidegate.local.kinds.remembered import remembered

SPECS = st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 3) | st.lists(st.text(max_size=2), max_size=2))


def judge(path: str, spec: dict[str, Any], name: str = "") -> Iterator[str]:
    yield from (f"{path}.{key}: {value!r} of {name}" for key, value in spec.items())


memory = remembered(judge)


@given(spec=SPECS, path=st.sampled_from(["spec", "template"]), name=st.sampled_from(["", "x"]))
def test_what_is_remembered_is_what_would_be_said_now(spec: dict[str, Any], path: str, name: str) -> None:
    assert memory(path, spec, name) == tuple(judge(path, spec, name))


def test_replicas_are_judged_once_and_giants_each_time() -> None:
    asked: list[int] = []

    @remembered
    def counted(path: str, spec: dict[str, Any]) -> Iterator[str]:
        asked.append(len(spec["text"]))
        yield path

    for length in (10, 10, 100_000, 100_000):
        assert counted("spec", {"text": "x" * length}) == ("spec",)
    assert asked == [10, 100_000, 100_000]


def test_a_claim_made_for_a_pod_is_judged_by_the_name_of_that_pod() -> None:
    """Two pods with one spec: the claim of the second would have too long a name."""
    pod = ours.sample("Pod", "rich")
    volume = {"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}  # fmt: skip
    pod["spec"]["volumes"] = [*pod["spec"].get("volumes", []), volume]
    codes = []
    for name in ("short", "x" * 250):
        pod["metadata"]["name"] = name
        codes.append(ours.created(pod).code)
    assert codes == [201, 422]
