"""Which webhooks there are, and which of them a write concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.selectors import selector_of
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import ApiError, bad_request
from tidegate.local.store import Kept, Store

_GROUP = "admissionregistration.k8s.io"
_REASONS = {400: "BadRequest", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 422: "Invalid", 500: "InternalError"}


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of one configuration."""

    name: str
    configuration: str
    rules: tuple[Object, ...]
    in_namespace: Callable[[dict[str, str]], bool]
    on_object: Callable[[dict[str, str]], bool]
    conditions: tuple[Object, ...]
    client: Object
    fails: bool
    """failurePolicy: whether a webhook that does not answer refuses the write."""
    timeout_s: float
    side_effects: str
    reinvoked: bool
    equivalent: bool
    """matchPolicy: whether writes to other versions of what the rules name count as well."""


def _hook(configuration: str, raw: Object) -> Hook:
    return Hook(
        raw["name"], configuration, tuple(raw.get("rules") or ()), selector_of(raw.get("namespaceSelector") or {}),
        selector_of(raw.get("objectSelector") or {}), tuple(raw.get("matchConditions") or ()), raw["clientConfig"],
        raw.get("failurePolicy", "Fail") == "Fail", float(raw.get("timeoutSeconds", 10)), raw.get("sideEffects", ""),
        raw.get("reinvocationPolicy") == "IfNeeded", raw.get("matchPolicy", "Equivalent") == "Equivalent",
    )  # fmt: skip


class Hooks:
    """The webhooks of one sort, kept from the store: read again when a configuration has changed."""

    def __init__(self, store: Store, registry: Registry, plural: str) -> None:
        self._store = store
        self._registry = registry
        self._prefix = f"{_GROUP}/{plural}/"
        self._hooks = Kept(store, (self._prefix,), self._read)

    def concerned(self, asked: Attributes) -> Iterator[tuple[Hook, Served]]:
        """In order of configuration and position, each with the version it is to be told in; of configurations
        themselves no webhook is told."""
        if asked.served.group == _GROUP:
            return
        for hook in self._hooks():
            served = version_for(hook.rules, asked, self._registry, equivalent=hook.equivalent)
            if served is not None and self._selected(hook, asked):
                yield hook, served

    def _read(self) -> list[Hook]:
        found = [decode(row.value) for row in self._store.range(self._prefix)]
        return [_hook(each["metadata"]["name"], raw) for each in found for raw in each.get("webhooks") or []]

    def _selected(self, hook: Hook, asked: Attributes) -> bool:
        objects = [obj for obj in (asked.obj, asked.old) if obj is not None]
        if not any(hook.on_object(obj["metadata"].get("labels") or {}) for obj in objects):
            return False
        labels = namespace_labels(self._store, asked)
        return labels is None or hook.in_namespace(labels)


def namespace_labels(store: Store, asked: Attributes) -> dict[str, str] | None:
    """The labels by which a namespaceSelector judges: the namespace's own if it is one; None for cluster-wide kinds."""
    if (asked.served.group, asked.served.plural) == ("", "namespaces"):
        if asked.obj is not None:
            return asked.obj["metadata"].get("labels") or {}
        return (asked.old or {}).get("metadata", {}).get("labels") or {}
    if not asked.served.namespaced:
        return None
    row = store.newest(f"core/namespaces/{asked.namespace}")
    return decode(row.value)["metadata"].get("labels") or {} if row else {}


def version_for(rules: Iterable[Object], asked: Attributes, registry: Registry, *, equivalent: bool) -> Served | None:
    """The version in which rules speak of a write: its own, or if that may be, another of the same kind."""
    if any(rule_matches(rule, asked, asked.served) for rule in rules):
        return asked.served
    others = registry.other_versions(asked.served) if equivalent else ()
    return next((one for one in others if any(rule_matches(rule, asked, one) for rule in rules)), None)


def rule_matches(rule: Object, asked: Attributes, served: Served) -> bool:

    def named(field: str, value: str) -> bool:
        given: list[Any] = rule.get(field) or []
        return "*" in given or value in given

    if not (named("operations", asked.operation) and named("apiGroups", served.group)):
        return False
    if not named("apiVersions", served.version):
        return False
    scope = rule.get("scope") or "*"
    if scope != "*" and (scope == "Namespaced") != served.namespaced:
        return False
    names = rule.get("resourceNames")
    if names and asked.name not in names:
        return False
    return any(_resource_matches(pattern, served.plural, asked.subresource) for pattern in rule.get("resources") or [])


def _resource_matches(pattern: str, plural: str, subresource: str) -> bool:
    resource, _, sub = pattern.partition("/")
    if resource not in ("*", plural):
        return False
    return sub in ("*", subresource)


def refuse_dry_run(hook: Hook, asked: Attributes) -> None:
    if asked.dry_run and hook.side_effects not in ("None", "NoneOnDryRun"):
        raise bad_request(f'admission webhook "{hook.name}" does not support dry run')


def denial(hook: Hook, asked: Attributes, status: Object | None) -> Exception:
    """The refusal in the webhook's own words."""
    status = status or {}
    why = f'admission webhook "{hook.name}" denied the request'
    message, reason = status.get("message"), status.get("reason")
    said = f"{why}: {message or reason}" if message or reason else f"{why} without explanation"
    code = status.get("code") or 403
    return ApiError(code, reason or _REASONS.get(code, ""), said, status.get("details") or {})
