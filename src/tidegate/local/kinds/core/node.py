"""The kind Node."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core.resources import amount, round_up
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, wrong
from tidegate.local.kinds.selectors import EFFECTS


class Node(BuiltIn):
    has_status = True

    def default(self, obj: Object) -> None:
        status, spec = child(obj, "status"), child(obj, "spec")
        for key in ("capacity", "allocatable"):
            round_up(status.get(key))
        if status.get("capacity") and status.get("allocatable") is None:
            status["allocatable"] = dict(status["capacity"])
        one, many = spec.get("podCIDR"), spec.get("podCIDRs") or []
        if one and (not many or many[0] != one):
            spec["podCIDRs"] = [one]
        elif many and not one:
            spec["podCIDR"] = many[0]

    def prepare_create(self, obj: Object) -> None:
        """A node may be created with its status: it is the node itself that does so."""
        child(obj, "spec").pop("configSource", None)

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        if child(old, "spec").get("configSource") is None:
            child(obj, "spec").pop("configSource", None)

    def prepare_status_update(self, obj: Object, old: Object) -> None:
        super().prepare_status_update(obj, old)
        if child(old, "status").get("config") is None:
            child(obj, "status").pop("config", None)

    def check(self, obj: Object) -> Errors:
        yield from _taints(child(obj, "spec"))
        yield from _amounts(child(obj, "status"))
        blocks = child(obj, "spec").get("podCIDRs") or []
        for at, block in items(child(obj, "spec"), "podCIDRs", "spec"):
            yield from wrong(at, block, names.cidr(block))
        if len(blocks) > 1 and sorted(":" in block for block in blocks) != [False, True]:
            yield invalid("spec.podCIDRs", blocks, "may specify no more than one CIDR for each IP family")

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from _taints(
            child(obj, "spec")
        )  # Kubernetes looks at them again as part of the change, and says so twice.
        yield from self._changed(obj, old)

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from self.check(obj)
        yield from self._changed(obj, old)

    def _changed(self, obj: Object, old: Object) -> Errors:
        seen: list[Object] = []
        for at, address in items(child(obj, "status"), "addresses", "status"):
            if address in seen:
                yield duplicate(at, address)
            seen.append(address)
        spec, before = child(obj, "spec"), child(old, "spec")
        for key, called in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
            if before.get(key) and before[key] != spec.get(key):
                says = f'node updates may not change {called} except from "" to valid'
                yield forbidden_field(f"spec.{key}", says)
        if (spec.get("externalID") or "") != (before.get("externalID") or ""):
            yield forbidden_field("spec.externalID", "may not be updated")


def _amounts(status: Object) -> Errors:
    for key in ("capacity", "allocatable"):
        for name, text in (status.get(key) or {}).items():
            yield from amount(f"status.{key}.{name}", name, text)


def _taints(spec: Object) -> Errors:
    seen: set[tuple[str, str]] = set()
    for at, taint in items(spec, "taints", "metadata"):
        key, value, effect = (taint.get(field) or "" for field in ("key", "value", "effect"))
        yield from wrong(f"{at}.key", key, names.qualified_name(key))
        if messages := names.label_value(value):
            yield invalid(f"{at}.value", value, ";".join(messages))
        if not effect:
            yield required(f"{at}.effect")
        else:
            yield from maybe_one_of(f"{at}.effect", effect, EFFECTS)
        if (key, effect) in seen:
            yield duplicate(at, taint)
        seen.add((key, effect))
