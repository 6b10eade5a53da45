"""Every kind, field and word says what it means, since the CRDs and the reference are made from that."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from tidegate.model.duration import Duration
from tidegate.model.kinds import SERVED, Kind
from tidegate.model.kinds.cluster_queue import AcrossQueues, Ordering, Stop, WithinQueue
from tidegate.model.kinds.shape import SPELLING
from tidegate.model.kinds.workload import State, WaitingReason
from tidegate.model.ratio import Ratio
from tidegate.model.resources import AMOUNT_SCHEMA
from tidegate.model.schema.docstrings import member_docs
from tidegate.model.schema.structural import BASE64, schema_of


def undescribed(schema: dict[str, Any], path: str) -> list[str]:
    found = []
    for name, inner in schema.get("properties", {}).items():
        if "template" in f"{path}.{name}".split(".")[:-1]:
            continue
        if "description" not in inner:
            found.append(f"{path}.{name}")
        found += undescribed(inner, f"{path}.{name}")
    for part in ("items", "additionalProperties"):
        if part in schema:
            found += undescribed(schema[part], path)
    return found


@pytest.mark.parametrize("kind", SERVED, ids=lambda kind: kind.__name__)
def test_every_field_is_described(kind: type[Kind]) -> None:
    schema = schema_of(kind)
    assert schema["description"]
    assert undescribed(schema, "") == [".apiVersion", ".kind", ".metadata"]


@pytest.mark.parametrize("words", [State, WaitingReason, Ordering, Stop, WithinQueue, AcrossQueues])
def test_every_word_is_described(words: type[StrEnum]) -> None:
    assert member_docs(words).keys() == {word.name for word in words}


def test_the_reasons_are_those_of_the_contract() -> None:
    assert [reason.value for reason in WaitingReason] == [
        "WaitingForQuota",
        "ExceedsQuota",
        "NoMatchingFlavor",
        "BehindInQueue",
        "WaitingForPreempted",
        "QueueStopped",
        "NoQueue",
        "NotAllowed",
        "Backoff",
        "Inactive",
    ]


def patterns(schema: Any) -> set[str]:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = {schema["pattern"]} if isinstance(schema, dict) and isinstance(schema.get("pattern"), str) else set()
    return own.union(*(patterns(one) for one in inner))


def test_every_pattern_can_be_told_in_words() -> None:
    """Amounts, ratios, durations and bytes say it themselves."""
    own = {AMOUNT_SCHEMA["pattern"], Duration.SCHEMA["pattern"], Ratio.SCHEMA["pattern"], BASE64}
    assert patterns([schema_of(kind) for kind in SERVED]) == SPELLING.keys() | own
