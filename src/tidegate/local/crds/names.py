"""Names of definitions: which are accepted, given the names that other definitions of the group hold already.

Kubernetes settles this after the fact, by conditions: a definition with a name that is taken is stored, but its kind is
not served until the name is free.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.definition import condition


@dataclass(frozen=True, slots=True)
class Taken:
    """Names in use in one group: of resources (plural, singular, short) and of kinds."""

    resources: frozenset[str]
    kinds: frozenset[str]

    @classmethod
    def by(cls, crds: Iterable[Object], *, resources: Iterable[str] = (), kinds: Iterable[str] = ()) -> Taken:
        """What these definitions have been accepted with, and names in use otherwise."""
        held_resources: set[str | None] = set(resources)
        held_kinds: set[str | None] = set(kinds)
        for crd in crds:
            names = (crd.get("status") or {}).get("acceptedNames") or {}
            held_resources |= {names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())}
            held_kinds |= {names.get("kind"), names.get("listKind")}
        return cls(frozenset(filter(None, held_resources)), frozenset(filter(None, held_kinds)))


def accept_names(crd: Object, others: Iterable[Object], *, now: str, established: bool = True) -> Object:
    """The status of a definition beside the other definitions of its group (others are ignored).

    `established` makes accepted names served at once; Kubernetes does so a moment later. `now` stamps what changes.
    """
    group = crd["spec"]["group"]
    taken = Taken.by(other for other in others if other["spec"]["group"] == group and other is not crd)
    status = dict(crd.get("status") or {})
    asked, held = crd["spec"]["names"], status.get("acceptedNames") or {}
    accepted, conflict = _settled(asked, held, taken)
    status["acceptedNames"] = {"plural": "", "kind": ""} | accepted
    named = conflict or {"status": "True", "reason": "NoConflicts", "message": "no conflicts found"}
    old = condition(crd, "Established")
    serving: dict[str, Any] = dict(old) if old else _state("False", "NotAccepted", "not all names are accepted")
    if serving["status"] != "True" and not conflict:
        words = "the initial names have been accepted"
        serving = _state("True", "InitialNamesAccepted", words) if established else _state("False", "Installing", words)
    conditions = _stamped(status.get("conditions") or [], "NamesAccepted", named, now)
    status["conditions"] = _stamped(conditions, "Established", serving, now)
    return status


def _settled(asked: Object, held: Object, taken: Taken) -> tuple[Object, dict[str, str]]:
    """The names that can be had, and the last conflict found."""
    accepted, conflict = dict(held), {}
    for key, reason, used in (
        ("plural", "PluralConflict", taken.resources),
        ("singular", "SingularConflict", taken.resources),
        ("shortNames", "ShortNamesConflict", taken.resources),
        ("kind", "KindConflict", taken.kinds),
        ("listKind", "ListKindConflict", taken.kinds),
    ):
        wanted, own = asked.get(key), held.get(key)
        fresh = [wanted] if isinstance(wanted, str) else [name for name in wanted or () if name not in (own or ())]
        clashes = [f'"{name}" is already in use' for name in fresh if name != own and name in used]
        if clashes:
            said = clashes[0] if len(clashes) == 1 else f"[{', '.join(clashes)}]"
            conflict = _state("False", reason, said)
        elif wanted:
            accepted[key] = wanted
        else:
            accepted.pop(key, None)
    if asked.get("categories"):
        accepted["categories"] = asked["categories"]
    else:
        accepted.pop("categories", None)
    return accepted, conflict


def _state(status: str, reason: str, message: str) -> dict[str, str]:
    return {"status": status, "reason": reason, "message": message}


def _stamped(conditions: list[Object], kind: str, state: Object, now: str) -> list[Object]:
    """The conditions with this one set; its time moves only if its status does."""
    made = {"type": kind, "status": state["status"], "lastTransitionTime": now}
    made |= {"reason": state["reason"], "message": state["message"]}
    for index, known in enumerate(conditions):
        if known["type"] == kind:
            if known["status"] == made["status"] and known.get("lastTransitionTime"):
                made["lastTransitionTime"] = known["lastTransitionTime"]
            return [*conditions[:index], made, *conditions[index + 1 :]]
    return [*conditions, made]
