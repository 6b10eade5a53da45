from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.apiserver.negotiate import JSON, PLAIN, YAML, shape_of
from tidegate.local.errors import ApiError

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize("accept", ["", "*/*", "application/*", JSON, "application/vnd.kubernetes.protobuf"])
def test_json_is_what_one_gets_unless_one_asks(accept: str) -> None:
    assert shape_of(accept) == PLAIN


def test_the_first_shape_we_can_make_is_made() -> None:
    assert shape_of(f"text/html, {TABLE}, {JSON}").transform == "Table"
    assert shape_of(f"application/json;as=Unknown;v=v1;g=meta.k8s.io, {YAML}").media == YAML


def test_the_better_liked_goes_first() -> None:
    assert shape_of(f"{JSON};q=0.5, {YAML}").media == YAML
    assert shape_of(f"{YAML};q=0.5, {JSON}").media == JSON


def test_what_is_no_object_has_no_table() -> None:
    assert shape_of(f"{TABLE}, {JSON}", transforms=False) == PLAIN


@given(st.text(max_size=40))
def test_any_accept_has_a_shape_or_is_refused(accept: str) -> None:
    try:
        found: object = shape_of(accept).media
    except ApiError as error:
        found = error.code
    assert found in (JSON, YAML, 406)
