"""Events, which are served by two groups: stored in the core form, and turned into the other and back."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, invalid, required
from tidegate.local.kinds import metadata, names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, same, unchanged, wrong
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import decode_value

# The core group's word for each field that events.k8s.io calls otherwise.
_RENAMED = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
_TO_EVENTS = {core: other for other, core in _RENAMED.items()}
_NEVER_CHANGE = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type"),
    *("eventTime", "action", "related", "reportingInstance"),
)


NEWER = "events.k8s.io/v1"


def to_core(event: Object) -> Object:
    """An event of events.k8s.io as the core group writes it."""
    return {_RENAMED.get(key, key): value for key, value in event.items()} | {"apiVersion": "v1"}


def to_events(event: Object) -> Object:
    """An event of the core group as events.k8s.io writes it."""
    return {_TO_EVENTS.get(key, key): value for key, value in event.items()} | {"apiVersion": NEWER}


def whole(event: Object) -> Object:
    """An event with the fields its group always shows and without those it leaves out; changes it in place."""
    group, _, version = event["apiVersion"].rpartition("/")
    return decode_value(event, builtin_schema((group, version, "Event"))).obj


class Event(BuiltIn):
    """Of both groups; the newer one asks for more."""

    creates_on_update = True
    any_finalizer = True

    def name_errors(self, name: str) -> list[str]:
        return names.path_segment(name)

    def validate_create(self, obj: Object) -> list[FieldError]:
        newer, event = _read(obj)
        errors = [*_legacy(event, newer)]
        if newer:
            name = child(event, "metadata").get("name") or ""
            errors += [invalid("metadata.name", name, message) for message in names.dns_subdomain(name)]
            errors += [*metadata.core_finalizers(event), *_series(event), *_only_new(event)]
        return errors

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        newer, event = _read(obj)
        errors = [*_legacy(event, newer)]
        if newer:
            before = _read(old)[1]
            if not same(event.get("series"), before.get("series")):
                errors += _series(event)
            errors += unchanged("", event, before, *_NEVER_CHANGE)
            if event.get("reportingComponent") != before.get("reportingComponent"):
                errors.append(invalid("reportingController", event.get("reportingComponent"), "field is immutable"))
        return errors


def _read(obj: Object) -> tuple[bool, Object]:
    newer = obj.get("apiVersion") == NEWER
    return newer, to_core(obj) if newer else obj


def _series(event: Object) -> Errors:
    if (series := event.get("series")) is not None:
        if (series.get("count") or 0) < 2:
            yield invalid("series.count", "", "should be at least 2")
        if not series.get("lastObservedTime"):
            yield required("series.lastObservedTime")


def _only_new(event: Object) -> Errors:
    if not event.get("eventTime"):
        yield required("eventTime")
    if event.get("type") not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {event.get('type') or ''}")
    for key in ("firstTimestamp", "lastTimestamp", "count", "source"):
        value = event.get(key)
        if value and (key != "source" or any(value.values())):
            yield invalid(key, "", "needs to be unset")


def _legacy(event: Object, newer: bool) -> Errors:
    namespace = child(event, "metadata").get("namespace") or ""
    about = child(event, "involvedObject").get("namespace") or ""
    if not event.get("eventTime"):
        if about != namespace and (about or namespace not in ("", "default")):
            yield invalid("involvedObject.namespace", about, "does not match event.namespace")
    else:
        if not about and namespace not in ("default", "kube-system"):
            yield invalid("involvedObject.namespace", about, "does not match event.namespace")
        yield from _reported(event, "reportingController" if newer else "reportingComponent")
    yield from wrong("namespace", namespace, names.dns_subdomain(namespace))


def _reported(event: Object, called: str) -> Errors:
    controller = event.get("reportingComponent") or ""
    if not controller:
        yield required(called)
    yield from wrong(called, controller, names.qualified_name(controller))
    for key in ("reportingInstance", "action", "reason"):
        value = event.get(key) or ""
        if not value:
            yield required(key)
        elif len(value) > 128:
            yield invalid(key, "", "can have at most 128 characters")
    if len(event.get("message") or "") > 1024:
        yield invalid("message", "", "can have at most 1024 characters")
