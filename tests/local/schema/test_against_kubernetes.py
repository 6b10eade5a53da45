"""The decoders against Kubernetes' own, on objects nobody chose: every kind, filled and damaged at random."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.local.schema.godecoder import Answer, GoDecoder, Kind
from tidegate.local.errors import ApiError
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import Decoded, decode_builtin
from tidegate.local.schema.definitions import kinds
from tidegate.local.schema.protobuf import decode_protobuf

pytestmark = pytest.mark.kube


def _kind(name: str) -> Kind:
    *group, version, kind = name.split("/")
    return group[0] if group else "", version, kind


KINDS = [_kind(name) for name in sorted(kinds())]


@pytest.mark.parametrize("kind", KINDS, ids="/".join)
def test_every_kind_reads_the_same_from_json_and_protobuf(kubernetes: GoDecoder, kind: Kind) -> None:
    schema = builtin_schema(kind)
    for seed in range(8):
        filled = kubernetes.ask("fill", kind, seed=seed)
        assert not filled.error, filled.error
        read = decode_builtin(json.dumps(filled.object).encode(), schema)
        assert (read.obj, read.problems) == (filled.object, [])
        assert decode_protobuf(filled.protobuf, schema).obj == filled.object


@pytest.mark.parametrize("kind", KINDS, ids="/".join)
def test_every_kind_says_the_same_of_an_empty_body(kubernetes: GoDecoder, kind: Kind) -> None:
    _same(kubernetes.ask("json", kind, b"{}"), kind, b"{}")


@pytest.mark.parametrize("kind", KINDS, ids="/".join)
def test_damaged_bodies_are_refused_or_mended_alike(kubernetes: GoDecoder, kind: Kind) -> None:
    for seed in range(12):
        chance = random.Random(f"{kind}{seed}")
        body = kubernetes.ask("fill", kind, seed=seed).object
        for _ in range(chance.choice([1, 1, 3])):
            _damage(body, chance)
        text = json.dumps(body).encode()
        _same(kubernetes.ask("json", kind, text), kind, text)


ODD: list[Any] = [
    None,
    "",
    0,
    False,
    [],
    {},
    "text",
    7,
    2**31,
    2**63,
    1.5,
    True,
    [None],
    {"x": None},
    ["a"],
    {"x": "y"},
]


def _damage(body: Any, chance: random.Random) -> None:
    """One value somewhere becomes another, or a field appears that does not exist."""
    place = body
    while True:
        inside = [child for child in _children(place) if isinstance(child, dict | list) and child]
        if not inside or chance.random() < 0.2:
            break
        place = chance.choice(inside)
    if isinstance(place, dict) and chance.random() < 0.2:
        place[chance.choice(["unheard", "Name", "items"])] = copy.deepcopy(chance.choice(ODD))
    elif place:
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        # What a body says of its own kind is the router's affair, not the decoder's.
        if key not in {"kind", "apiVersion"} or place is not body:
            place[key] = copy.deepcopy(chance.choice(ODD))


def _children(place: Any) -> list[Any]:
    return list(place.values()) if isinstance(place, dict) else place if isinstance(place, list) else []


def _same(theirs: Answer, kind: Kind, text: bytes, *, yaml: bool = False) -> None:
    ours: Decoded | ApiError
    try:
        ours = decode_builtin(text, builtin_schema(kind), yaml=yaml)
    except ApiError as error:
        ours = error
    if isinstance(ours, ApiError):
        assert theirs.error, f"we refuse what Kubernetes takes: {ours.message}\n{text.decode()}"
        assert ours.code == 400
        return
    assert not theirs.error, f"we take what Kubernetes refuses: {theirs.error}\n{text.decode()}"
    assert {"kind": kind[2]} | ours.obj | {"apiVersion": theirs.object["apiVersion"]} == theirs.object, text.decode()
    assert sorted(ours.problems) == sorted(theirs.strict), text.decode()


QUOTA = ("", "v1", "ResourceQuota")
LEASE = ("coordination.k8s.io", "v1", "Lease")
SECRET = ("", "v1", "Secret")

numbers = st.from_regex(r"[+-]?[0-9]{0,6}(\.[0-9]{0,6})?", fullmatch=True)
suffixes = st.sampled_from(
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e3", "E-2", "e1", "K"]
)
quantities = st.one_of(st.tuples(numbers, suffixes).map("".join), st.text(max_size=6), st.integers(), st.none())
times = st.one_of(
    st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    st.from_regex(
        r"20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2]?[0-9]:[0-9]{2}:[0-9]{2}([.,][0-9]{1,8})?(Z|[+-][01][0-9]:[0-9]{2})?",
        fullmatch=True,
    ),
    st.text(max_size=8),
)
letters = st.text("ABab01+/= \n-_", max_size=12)
# The same examples in every run: a new one belongs in a run of its own, not in somebody else's change.
unhurried = settings(
    deadline=None,
    derandomize=True,
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def _ask(kubernetes: GoDecoder, kind: Kind, body: Any) -> None:
    text = json.dumps(body).encode()
    _same(kubernetes.ask("json", kind, text), kind, text)


@unhurried
@given(quantities)
def test_quantities_are_shown_alike(kubernetes: GoDecoder, quantity: Any) -> None:
    _ask(kubernetes, QUOTA, {"spec": {"hard": {"cpu": quantity}}})


@unhurried
@given(times)
def test_times_are_shown_alike(kubernetes: GoDecoder, time: str) -> None:
    _ask(kubernetes, LEASE, {"metadata": {"creationTimestamp": time}})


@unhurried
@given(times)
def test_times_with_microseconds_are_shown_alike(kubernetes: GoDecoder, time: str) -> None:
    _ask(kubernetes, LEASE, {"spec": {"renewTime": time}})


@unhurried
@given(letters)
def test_bytes_are_shown_alike(kubernetes: GoDecoder, text: str) -> None:
    _ask(kubernetes, SECRET, {"data": {"key": text}})


words = st.one_of(
    st.sampled_from(
        ["y", "n", "yes", "No", "on", "off", "~", "null", "True", ".inf", "<<", "0644", "0o17", "0x1F", "1_000"]
    ),
    st.sampled_from(
        ["1:30", "2001-01-01", "2001-01-01T00:00:00Z", "1e3", "1.5", "+7", "-0b11", "'5'", '"x"', "-", "08"]
    ),
    st.from_regex(r"[0-9+.eExob_-]{1,6}", fullmatch=True),
    st.from_regex(r"[a-zA-Z0-9]{1,4}", fullmatch=True),
)


@unhurried
@given(words.filter(lambda word: word != ".inf" and "e" not in word.lower()), words)
def test_words_of_yaml_mean_the_same(kubernetes: GoDecoder, key: str, word: str) -> None:
    """A map of strings tells what a word is: a string is taken, anything else refused with its type."""
    text = (
        f"metadata:\n  annotations: {{k: {word}}}\n  labels:\n    {key}: a\n    {key}: b\nspec: {{holderIdentity: x}}\n"
    )
    theirs = kubernetes.ask("yaml", LEASE, text.encode())
    _same(theirs, LEASE, text.encode(), yaml=True)
