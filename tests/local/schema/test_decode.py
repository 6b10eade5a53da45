"""What a body may say, and what is said of one that may not. The words are Kubernetes'."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidegate.local.errors import ApiError
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import Decoded, decode_builtin

POD = builtin_schema(("", "v1", "Pod"))
DEPLOYMENT = builtin_schema(("apps", "v1", "Deployment"))
QUOTA = builtin_schema(("", "v1", "ResourceQuota"))


def _pod(body: Any) -> Decoded:
    return decode_builtin(body if isinstance(body, bytes) else json.dumps(body).encode(), POD)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            {"spec": {"containers": "x"}},
            "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            {"spec": {"containers": [{"name": 1}]}},
            "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string",
        ),
        (
            {"spec": {"volumes": [{"hostPath": 3}]}},
            "json: cannot unmarshal number into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type "
            "v1.HostPathVolumeSource",
        ),
        (
            {"spec": {"priority": 2**40}},
            "json: cannot unmarshal number 1099511627776 into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            {"spec": {"activeDeadlineSeconds": 1.5}},
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64",
        ),
        (
            {"metadata": {"labels": {"a": True}}},
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            {"metadata": {"creationTimestamp": "soon"}},
            'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"',
        ),
        (
            {"spec": {"overhead": {"cpu": "much"}}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_a_wrong_type_is_refused_in_gos_words(body: Any, words: str) -> None:
    with pytest.raises(ApiError) as refused:
        _pod(body)
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")
    assert refused.value.message == f'Pod in version "v1" cannot be handled as a Pod: {words}'


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1,}', b"[1]", b"nothing", b'{"a":1}}', b"\xff"])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        _pod(body)
    assert refused.value.code == 400


def test_unknown_and_repeated_fields_are_named_with_their_paths() -> None:
    decoded = _pod(
        b'{"spec":{"foo":1,"containers":[{"bar":{},"name":"a","name":"b"}]},"metadata":{"labels":{"x":"1","x":"2"}}}'
    )
    assert decoded.unknown == ["spec.foo", "spec.containers[0].bar"]
    assert decoded.duplicates == ["spec.containers[0].name", "metadata.labels.x"]
    assert decoded.obj["spec"] == {"containers": [{"name": "b", "resources": {}}]}


def test_field_names_are_case_sensitive() -> None:
    assert _pod({"Spec": {}}).unknown == ["Spec"]


def test_strict_refuses_warn_tells_ignore_is_silent() -> None:
    decoded = _pod({"spec": {"foo": 1}})
    assert decoded.warnings("Ignore", "Pod", "v1") == []
    assert decoded.warnings("Warn", "Pod", "v1") == ['unknown field "spec.foo"']
    with pytest.raises(ApiError, match=r'strict decoding error: unknown field "spec\.foo"') as refused:
        decoded.warnings("Strict", "Pod", "v1")
    assert refused.value.code == 400


def test_a_colon_after_a_quote_inside_a_string_is_no_key() -> None:
    text = json.dumps({"metadata": {"annotations": {"note": '{"a":1,"b":"c"}', "end\\": 'x":'}}}).encode()
    assert _pod(text).duplicates == []


def test_null_is_absent_and_empty_is_left_out() -> None:
    body = {
        "metadata": {"creationTimestamp": None, "labels": {}, "finalizers": []},
        "spec": None,
        "status": {"phase": ""},
    }
    assert _pod(body).obj == {"metadata": {}, "spec": {"containers": None}, "status": {}}


def test_structs_are_shown_even_when_nobody_set_them() -> None:
    shown = decode_builtin(b'{"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}}', DEPLOYMENT).obj
    container = {"name": "a", "resources": {}}
    template = {"metadata": {}, "spec": {"containers": [container]}}
    assert shown == {
        "metadata": {},
        "spec": {"selector": None, "strategy": {}, "template": template},
        "status": {},
    }


def test_a_pointer_to_nothing_stays() -> None:
    spec = {"containers": [], "securityContext": {}, "hostUsers": False, "terminationGracePeriodSeconds": 0}
    assert _pod({"spec": spec}).obj["spec"] == spec | {"containers": None}


@pytest.mark.parametrize(
    ("given", "shown"),
    [(0.5, "500m"), ("1024Mi", "1Gi"), (1, "1"), ("0.1", "100m"), ("1e3", "1e3"), ("1000", "1k"), ("1.5Gi", "1536Mi")],
)
def test_quantities_are_shown_in_canonical_form(given: Any, shown: str) -> None:
    body = json.dumps({"spec": {"hard": {"cpu": given}}}).encode()
    assert decode_builtin(body, QUOTA).obj["spec"]["hard"] == {"cpu": shown}


def test_yaml_says_the_same_as_json() -> None:
    text = b"metadata: &m {name: a}\nspec:\n  containers:\n  - name: b\n    image: yes:1\nstatus: {phase: Running}\n"
    shown = decode_builtin(text, POD, yaml=True).obj
    assert shown["spec"]["containers"] == [{"name": "b", "image": "yes:1", "resources": {}}]


def test_keys_that_stand_twice_in_yaml_are_told_with_their_line() -> None:
    decoded = decode_builtin(b"metadata:\n  name: a\n  name: b\n", POD, yaml=True)
    assert decoded.problems == ['yaml: unmarshal errors:\n  line 3: key "name" already set in map']


def test_yaml_that_unfolds_without_end_is_refused() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(ApiError, match="excessive aliasing"):
        decode_builtin("\n".join(lines).encode(), POD, yaml=True)
