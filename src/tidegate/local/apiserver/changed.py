"""A change as the rules of its kind see it: what is settled before it is judged, and whether it may be made."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.apiserver.call import Call
from tidegate.local.errors import invalid_object
from tidegate.local.kinds import metadata as rules
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.patch import identical


def _rules_of(call: Call) -> Strategy | None:
    """The rules for what is being written: the kind's, those of one of its other doors, or none (binding, finalize)."""
    if call.subresource in ("", "status", "scale"):
        return call.served.strategy
    return call.served.strategy.subresource(call.subresource)


def prepare_for(call: Call, obj: Object, old: Object) -> None:
    strategy = _rules_of(call)
    if strategy is None:
        return
    if call.subresource == "status":
        strategy.prepare_status_update(obj, old)
    else:
        strategy.prepare_update(obj, old)


def count_generation(call: Call, obj: Object, old: Object) -> None:
    if not call.served.strategy.generates_generation or call.subresource in ("status", "binding"):
        return
    ignored = ("metadata", "status", "kind", "apiVersion")
    wanted = {key: value for key, value in obj.items() if key not in ignored}
    known = {key: value for key, value in old.items() if key not in ignored}
    if not identical(wanted, known):
        obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


_ALWAYS_TOLD = frozenset(["Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Secret", "Service"])


def _is_worth_a_warning(call: Call, obj: Object, old: Object) -> bool:
    """Who changes something else is not told again what was told when the object was made."""
    if call.served.custom:
        return bool(obj["metadata"].get("finalizers") != old["metadata"].get("finalizers"))
    wanted = (obj.keys() | old.keys()) - {"metadata", "status"}
    return call.served.kind in _ALWAYS_TOLD or any(obj.get(key) != old.get(key) for key in wanted)


def validate_changed(call: Call, obj: Object, old: Object) -> None:
    served, strategy = call.served, _rules_of(call)
    errors = rules.validate_update(obj, old, name_errors=served.strategy.name_errors)
    if strategy is None:
        pass
    elif call.subresource == "status":
        errors += strategy.validate_status_update(obj, old)
    else:
        errors += strategy.validate_update(obj, old)
    if errors:
        raise invalid_object(served.judged_group, served.kind, call.name, errors)
    if strategy is not None and call.subresource != "status" and _is_worth_a_warning(call, obj, old):
        call.warnings += strategy.warnings(obj, old)
