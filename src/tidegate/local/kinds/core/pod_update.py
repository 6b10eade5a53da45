"""What an update of a pod may change: images, a deadline that comes nearer, more tolerations, fewer gates."""

from __future__ import annotations

import copy
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, required
from tidegate.local.kinds import selectors
from tidegate.local.kinds.rules import MOST_INT32, Errors, child, items, same

_UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def check(spec: Object, old: Object) -> Errors:
    if spec == old:
        return
    for sort in ("containers", "initContainers"):
        if len(spec.get(sort) or ()) != len(old.get(sort) or ()):
            yield forbidden_field(f"spec.{sort}", "pod updates may not add or remove containers")
            return
        for at, container in items(spec, sort, "spec"):
            image = container.get("image") or ""
            if not image:
                yield required(f"{at}.image")
            if image.strip() != image:
                yield invalid(f"{at}.image", image, "must not have leading or trailing whitespace")
    deadline_errors = list(_deadline(spec.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds")))
    yield from deadline_errors
    if deadline_errors and spec.get("activeDeadlineSeconds") is not None:
        return
    yield from _tolerations(spec.get("tolerations") or [], old.get("tolerations") or [])
    yield from _gates(spec.get("schedulingGates") or [], old.get("schedulingGates") or [])
    if not same(spec, old):
        yield from _rest(spec, old)


def _deadline(deadline: int | None, old: int | None) -> Errors:
    path = "spec.activeDeadlineSeconds"
    if deadline is None:
        if old is not None:
            yield invalid(path, None, "must not update from a positive integer to nil value")
    elif not 0 <= deadline <= MOST_INT32:
        yield invalid(path, deadline, f"must be between 0 and {MOST_INT32}, inclusive")
    elif old is not None and old < deadline:
        yield invalid(path, deadline, "must be less than or equal to previous value")


def _tolerations(tolerations: list[Object], old: list[Object]) -> Errors:
    def identity(toleration: Object) -> Object:
        return {key: value for key, value in toleration.items() if key != "tolerationSeconds" and value}

    kept = [identity(toleration) for toleration in tolerations]
    if any(identity(toleration) not in kept for toleration in old):
        says = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden_field("spec.tolerations", says)
    else:
        yield from selectors.tolerations("spec.tolerations", tolerations)


def _gates(gates: list[Object], old: list[Object]) -> Errors:
    known = {gate.get("name") for gate in old}
    for index, gate in enumerate(gates):
        if gate.get("name") not in known:
            says = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield forbidden_field(f"spec.schedulingGates[{index}].name", says)


def _rest(spec: Object, old: Object) -> Errors:
    """Everything else must be as it was, apart from what narrows the choice of nodes of a gated pod."""
    allowed = copy.deepcopy(old)
    for sort in ("containers", "initContainers"):
        for container, before in zip(spec.get(sort) or (), allowed.get(sort) or (), strict=True):
            before["image"] = container.get("image")
    for key in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        allowed[key] = spec.get(key)
    if old.get("terminationGracePeriodSeconds", 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        allowed["terminationGracePeriodSeconds"] = 1
    if old.get("schedulingGates"):
        yield from _narrowed(spec, old)
        allowed["nodeSelector"] = spec.get("nodeSelector")
        allowed["affinity"] = _with_node_affinity(allowed.get("affinity"), spec.get("affinity"))
    if not same(spec, allowed):
        yield forbidden_field("spec", f"pod updates may not change fields other than {','.join(_UPDATABLE)}")


def _with_node_affinity(old: Any, new: Any) -> Object | None:
    affinity = {key: value for key, value in (old or {}).items() if key != "nodeAffinity"}
    if (node := (new or {}).get("nodeAffinity")) is not None:
        affinity["nodeAffinity"] = node
    return affinity or None


def _narrowed(spec: Object, old: Object) -> Errors:
    selector, before = spec.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if not before.items() <= selector.items():
        says = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid("spec.nodeSelector", selector, says)
    terms = child(spec, "affinity", "nodeAffinity", _REQUIRED).get("nodeSelectorTerms") or []
    before_terms = child(old, "affinity", "nodeAffinity", _REQUIRED).get("nodeSelectorTerms") or []
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    if before_terms and len(before_terms) != len(terms):
        yield invalid(path, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
        return
    for index, (term, was) in enumerate(zip(terms, before_terms, strict=False)):
        if not _only_adds(term, was):
            yield invalid(f"{path}[{index}]", term, "only additions are allowed (no mutations or deletions)")


def _only_adds(term: Object, old: Object) -> bool:
    sorts = ("matchExpressions", "matchFields")
    if not any(old.get(sort) for sort in sorts):
        return not any(term.get(sort) for sort in sorts)
    return all(same((term.get(sort) or [])[: len(old.get(sort) or ())], old.get(sort) or []) for sort in sorts)


def check_ephemeral(spec: Object, old: Object) -> Errors:
    now = {container.get("name"): container for container in spec.get("ephemeralContainers") or ()}
    for before in old.get("ephemeralContainers") or ():
        name = before.get("name")
        if name not in now:
            says = f'existing ephemeral containers "{name}" may not be removed\n'
            yield forbidden_field("spec.ephemeralContainers", says)
        elif not same(before, now[name]):
            says = f'existing ephemeral containers "{name}" may not be changed\n'
            yield forbidden_field("spec.ephemeralContainers", says)
