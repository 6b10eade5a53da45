from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.apiserver.selectors import SelectorError, matches, parse_fields, parse_labels

KEYS = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True).filter(lambda key: key not in ("in", "notin"))
VALUES = st.from_regex(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,8}[A-Za-z0-9])?)?", fullmatch=True)
LABELS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(LABELS, KEYS, VALUES)
def test_equal_and_unequal_are_opposites(labels: dict[str, str], key: str, value: str) -> None:
    equal, unequal = parse_labels(f"{key}={value}"), parse_labels(f"{key}!={value}")
    assert matches(equal, labels) is (labels.get(key) == value)
    assert matches(unequal, labels) is not matches(equal, labels)


@given(LABELS, KEYS, st.lists(VALUES, min_size=1, max_size=3))
def test_in_and_notin_are_opposites(labels: dict[str, str], key: str, values: list[str]) -> None:
    inside = parse_labels(f"{key} in ({','.join(values)})")
    outside = parse_labels(f"{key} notin ({','.join(values)})")
    assert matches(inside, labels) is (key in labels and labels[key] in values)
    assert matches(outside, labels) is not matches(inside, labels)


@given(LABELS, KEYS)
def test_a_key_alone_asks_whether_it_is_there(labels: dict[str, str], key: str) -> None:
    assert matches(parse_labels(key), labels) is (key in labels)
    assert matches(parse_labels(f"!{key}"), labels) is (key not in labels)


@given(LABELS, st.lists(st.tuples(KEYS, VALUES), max_size=3))
def test_all_requirements_must_hold(labels: dict[str, str], wanted: list[tuple[str, str]]) -> None:
    selector = parse_labels(",".join(f"{key}={value}" for key, value in wanted))
    assert matches(selector, labels) is all(labels.get(key) == value for key, value in wanted)


@given(LABELS, KEYS, st.integers(0, 99))
def test_comparisons_are_of_numbers_only(labels: dict[str, str], key: str, bound: int) -> None:
    labels = labels | {key: "ten"}
    assert not matches(parse_labels(f"{key}>1"), labels)
    labels = labels | {key: "10"}
    assert matches(parse_labels(f"{key}>{bound}"), labels) is (bound < 10)


@pytest.mark.parametrize(
    "text", ["a b", "a in (b", "=b", "a>b", "a in in", "a=b=c", "a=b,", "(", "a in b", "-a", "a=-"]
)
def test_what_does_not_parse_is_refused(text: str) -> None:
    with pytest.raises(SelectorError):
        parse_labels(text)


@given(st.text(max_size=30))
def test_any_text_parses_or_is_refused(text: str) -> None:
    for parse in (parse_labels, parse_fields):
        with contextlib.suppress(SelectorError):
            assert isinstance(parse(text), tuple)


@given(st.text(max_size=12))
def test_a_field_value_survives_escaping(value: str) -> None:
    escaped = value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
    selector = parse_fields(f"metadata.name={escaped}")
    assert [set(requirement.values) for requirement in selector] == [{value}]
