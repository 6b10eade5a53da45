from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.apiserver.routes import Route, is_true, route_of, verb_of

WORDS = st.from_regex(r"[a-z][a-z0-9.-]{0,8}", fullmatch=True).filter(lambda word: word not in ("watch", "namespaces"))


@given(WORDS, WORDS, WORDS, WORDS, WORDS)
def test_a_path_in_a_namespace_is_taken_apart(group: str, version: str, namespace: str, plural: str, name: str) -> None:
    path = f"/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}"
    if plural in ("status", "finalize"):
        return
    assert route_of(path) == Route(group, version, plural, namespace, name)
    assert route_of(path + "/scale") == Route(group, version, plural, namespace, name, "scale")
    assert route_of(path + "/proxy/a/b") == Route(group, version, plural, namespace, name, "proxy", "a/b")


@given(WORDS, WORDS)
def test_the_core_group_has_no_name(version: str, plural: str) -> None:
    assert route_of(f"/api/{version}/{plural}") == Route("", version, plural)
    assert route_of(f"/api/{version}/watch/{plural}") == Route("", version, plural, watched=True)


def test_a_namespace_is_inside_none() -> None:
    assert route_of("/api/v1/namespaces/a") == Route("", "v1", "namespaces", name="a")
    assert route_of("/api/v1/namespaces/a/status") == Route("", "v1", "namespaces", name="a", subresource="status")


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/x/y/z/a"]
)
def test_what_is_no_resource_has_no_route(path: str) -> None:
    assert route_of(path) is None


@given(st.text(alphabet="/abvi1.", max_size=40))
def test_any_path_is_a_route_or_none(path: str) -> None:
    route = route_of(path)
    assert route is None or route.plural


@pytest.mark.parametrize(
    ("method", "name", "query", "verb"),
    [
        ("GET", "", {}, "list"),
        ("GET", "x", {}, "get"),
        ("GET", "", {"watch": "true"}, "watch"),
        ("GET", "", {"watch": ""}, "watch"),
        ("GET", "", {"watch": "0"}, "list"),
        ("GET", "x", {"watch": "true"}, "get"),
        ("POST", "", {}, "create"),
        ("PUT", "x", {}, "update"),
        ("PATCH", "x", {}, "patch"),
        ("DELETE", "x", {}, "delete"),
        ("DELETE", "", {}, "deletecollection"),
    ],
)
def test_a_method_is_a_verb(method: str, name: str, query: dict[str, str], verb: str) -> None:
    assert verb_of(method, Route("", "v1", "pods", "default", name), query) == verb


@given(st.sampled_from(["POST", "PUT", "PATCH", "HEAD", "OPTIONS"]))
def test_a_method_in_the_wrong_place_is_a_verb_nothing_serves(method: str) -> None:
    name = "x" if method == "POST" else ""
    assert verb_of(method, Route("", "v1", "pods", "default", name), {}) not in ("create", "update", "patch", "get")


def test_only_what_is_absent_or_says_no_is_false() -> None:
    assert [is_true(text) for text in (None, "0", "false", "False", "", "1", "true", "no")] == [False] * 4 + [True] * 4
