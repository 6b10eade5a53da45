"""The annotation in which `kubectl apply` keeps what it applied, for the change to server-side apply and back."""

from __future__ import annotations

from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.patch.apply.check import shape_errors
from tidegate.local.patch.apply.compare import changes
from tidegate.local.patch.apply.fieldset import FieldSet, difference
from tidegate.local.patch.apply.walk import ItemError, fields_of
from tidegate.local.schema.node import Schema

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_BYTES = 256 * 1024


def _annotation(obj: Object) -> str:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    text: str = annotations.get(LAST_APPLIED, "")
    return text


def allowed_conflicts(live: Object, schema: Schema, api_version: str) -> FieldSet | None:
    """The fields that kubectl set and nobody changed since; None if that cannot be known."""
    try:
        config: Any = msgspec.json.decode(_annotation(live) or "null")
        if not isinstance(config, dict) or config.get("apiVersion") != api_version or shape_errors(config, schema):
            return None
        changed = changes(config, live, schema)
        return difference(difference(fields_of(config, schema), changed.set), changed.gone)
    except (msgspec.DecodeError, ItemError):
        return None


def with_last_applied(obj: Object, config: Object) -> Object:
    """`obj` with the annotation brought up to date, if it has one."""
    if not _annotation(obj):
        return obj
    metadata: Object = dict(obj["metadata"])
    annotations: dict[str, str] = dict(metadata["annotations"])
    annotations[LAST_APPLIED] = _text(config)
    if sum(len(key) + len(value) for key, value in annotations.items()) > _MOST_BYTES:
        del annotations[LAST_APPLIED]
    return obj | {"metadata": metadata | {"annotations": annotations}}


def _text(config: Object) -> str:
    metadata = dict(config.get("metadata") or {})
    if metadata.get("annotations"):
        metadata["annotations"] = {key: value for key, value in metadata["annotations"].items() if key != LAST_APPLIED}
    text = msgspec.json.encode(config | {"metadata": metadata}, order="sorted").decode()
    # Go's encoder hides these from HTML and ends with a newline; kubectl compares texts.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"
