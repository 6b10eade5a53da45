"""Which admission policies there are, which bindings put them into force, and which a write concerns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.calls import request_of
from tidegate.local.admission.conditions import authorizer_of
from tidegate.local.admission.hooks import namespace_labels, version_for
from tidegate.local.admission.versions import viewed
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.selectors import selector_of
from tidegate.local.apiserver.served import Served
from tidegate.local.store import Kept, Store

GROUP = "admissionregistration.k8s.io"
VARIABLES = ("object", "oldObject", "request", "params", "namespaceObject", "variables", "authorizer")
_UNTOUCHED = {GROUP, "authentication.k8s.io", "authorization.k8s.io"}


class PolicyError(Exception):
    """A policy that cannot be evaluated; what then happens is for its failurePolicy to say."""


@dataclass(frozen=True, slots=True)
class InForce:
    """A policy, the binding that puts it into force, and one set of parameters (None: it takes none)."""

    policy: Object
    binding: Object
    params: Object | None
    served: Served
    """The version the policy speaks of."""

    @property
    def name(self) -> str:
        return str(self.policy["metadata"]["name"])

    @property
    def spec(self) -> Object:
        spec: Object = self.policy["spec"]
        return spec

    @property
    def fails(self) -> bool:
        return bool(self.spec.get("failurePolicy", "Fail") == "Fail")


class Policies:
    """Policies of one sort with their bindings, read again when one of them has changed."""

    def __init__(self, store: Store, registry: Registry, sort: str) -> None:
        self._store = store
        self._registry = registry
        self._prefixes = (f"{GROUP}/{sort}admissionpolicies/", f"{GROUP}/{sort}admissionpolicybindings/")
        self._pairs = Kept(store, self._prefixes, self._read)

    def concerned(self, asked: Attributes) -> Iterator[InForce]:
        """Raises PolicyError for a binding whose parameters should be there and are not."""
        if asked.served.group in _UNTOUCHED:
            return
        for policy, binding in self._pairs():
            spec, bound = policy["spec"], binding["spec"]
            served = self._matches(spec.get("matchConstraints") or {}, asked)
            if served is None:
                continue
            if bound.get("matchResources") and not self._matches(bound["matchResources"], asked, open_rules=True):
                continue
            for params in self._params(spec.get("paramKind"), bound.get("paramRef"), asked):
                yield InForce(policy, binding, params, served)

    def _read(self) -> list[tuple[Object, Object]]:
        policies, bindings = ([decode(row.value) for row in self._store.range(prefix)] for prefix in self._prefixes)
        named = {policy["metadata"]["name"]: policy for policy in policies}
        found = [(named.get(binding["spec"]["policyName"]), binding) for binding in bindings]
        return [(policy, binding) for policy, binding in found if policy is not None]

    def _matches(self, constraints: Object, asked: Attributes, *, open_rules: bool = False) -> Served | None:
        """The version in which the write is meant, if it is."""
        rules, equivalent = constraints.get("resourceRules") or [], constraints.get("matchPolicy") != "Exact"
        served = version_for(rules, asked, self._registry, equivalent=equivalent)
        if served is None and open_rules and not rules:
            served = asked.served
        excluded = constraints.get("excludeResourceRules") or []
        if served is None or version_for(excluded, asked, self._registry, equivalent=equivalent):
            return None
        objects = [obj for obj in (asked.obj, asked.old) if obj is not None]
        chosen = selector_of(constraints.get("objectSelector") or {})
        if not any(chosen(obj["metadata"].get("labels") or {}) for obj in objects):
            return None
        labels = namespace_labels(self._store, asked)
        is_there = labels is None or selector_of(constraints.get("namespaceSelector") or {})(labels)
        return served if is_there else None

    def _params(self, kind: Object | None, reference: Object | None, asked: Attributes) -> list[Object | None]:
        if not kind or not reference:
            return [None]
        group, _, version = kind["apiVersion"].rpartition("/")
        served = self._registry.by_kind(group, kind["kind"], version)
        if served is None:
            raise PolicyError(
                f"failed to find resource referenced by paramKind: '{kind['apiVersion']}, Kind={kind['kind']}'"
            )
        namespace = (reference.get("namespace") or asked.namespace) if served.namespaced else ""
        if reference.get("name"):
            row = self._store.newest(served.key(namespace, reference["name"]))
            found = [row] if row else []
        else:
            chosen = selector_of(reference.get("selector") or {})
            rows = self._store.range(served.collection(namespace))
            found = [row for row in rows if chosen(decode(row.value)["metadata"].get("labels") or {})]
        if found:
            head = {"kind": served.kind, "apiVersion": served.api_version}
            return [head | decode(row.value) for row in found]
        if reference.get("parameterNotFoundAction") == "Deny":
            raise PolicyError("no params found for policy binding with `Deny` parameterNotFoundAction")
        return []


def evaluate(text: str, bindings: dict[str, Any]) -> Any:
    """The value of an expression. Raises PolicyError."""
    from tidegate.local.crds.cel import CelError, CompileError, kept_program

    try:
        value = kept_program(text, VARIABLES).evaluate(bindings)
    except CompileError as error:
        raise PolicyError(f"compilation failed: {error}") from None
    if isinstance(value, CelError):
        raise PolicyError(f"expression '{text}' resulted in error: {value}")
    return value


def bindings_for(store: Store, force: InForce, asked: Attributes) -> dict[str, Any]:
    """All that expressions of this policy can speak of; its own variables may build on earlier ones."""
    asked = viewed(asked, force.served)
    row = store.newest(f"core/namespaces/{asked.namespace}") if asked.namespace else None
    given: dict[str, Any] = {
        "object": asked.obj, "oldObject": asked.old, "request": request_of(asked), "params": force.params,
        "namespaceObject": decode(row.value) if row else None, "authorizer": authorizer_of(asked), "variables": {},
    }  # fmt: skip
    for variable in force.spec.get("variables") or []:
        try:
            given["variables"][variable["name"]] = evaluate(variable["expression"], given)
        except PolicyError:
            continue  # Only whoever uses it fails, by not finding it.
    return given


def conditions_hold(force: InForce, given: dict[str, Any]) -> bool:
    """All matchConditions are true; one that is false settles it, whatever the others come to."""
    trouble: PolicyError | None = None
    for condition in force.spec.get("matchConditions") or []:
        try:
            if evaluate(condition["expression"], given) is not True:
                return False
        except PolicyError as error:
            trouble = error
    if trouble is not None:
        raise trouble
    return True
