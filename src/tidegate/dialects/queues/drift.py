"""Where a live configuration differs from what the tree says: field by field, amounts compared as amounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.dialects.errors import DialectError
from tidegate.model.jobs import Obj
from tidegate.model.quantity import Quantity, QuantityError

_SILENCE: tuple[Any, ...] = (None, {}, [], "")
_AMOUNTS = ("guaranteed", "max", "deserved", "capability", "resource", "nominalQuota", "borrowingLimit", "lendingLimit")
# Kueue's earlier version had other names for these.
_RENAMED = {("ClusterQueue", "cohort"): "cohortName", ("Cohort", "parent"): "parentName"}
# What servers fill in where nothing is said.
_FILLED_IN: dict[str, tuple[Any, ...]] = {
    "whenCanBorrow": ("MayStopSearch", "Borrow"),
    "whenCanPreempt": ("TryNextFlavor",),
    "policy": ("Never",),
    "stopPolicy": ("None",),
    "weight": ("1", 1),
    "dequeueStrategy": ("traverse",),
}


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference: what is there, and what should be."""

    where: str
    found: Any
    wanted: Any

    def __str__(self) -> str:
        return f"{self.where}: is {_shown(self.found)}, should be {_shown(self.wanted)}"


def _shown(value: Any) -> str:
    return "absent" if value in _SILENCE else str(value)


def drifts(scheduler: str, wanted: Iterable[Obj], live: Iterable[Obj]) -> tuple[Drift, ...]:
    """All differences, in the order of the tree; none where the live configuration says the same."""
    ours, theirs = list(wanted), list(live)
    if scheduler == "yunikorn":
        return tuple(_between("", _queues(ours[0]), _queues(_yunikorn(theirs))))
    kinds = {str(obj.get("kind")) for obj in ours}
    due, found = _named(ours), _named([obj for obj in theirs if str(obj.get("kind")) in kinds])
    if not found:
        listed = ", ".join(sorted(kinds))
        raise DialectError(f"the file has none of what is compared; give it the {listed} objects of the cluster")
    # Volcano makes these itself, and would make them again.
    own = ("Queue root", "Queue default") if scheduler == "volcano" else ()
    return tuple(_between("", due, {name: spec for name, spec in found.items() if name in due or name not in own}))


def _named(objects: list[Obj]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for obj in objects:
        metadata = obj.get("metadata") or {}
        name = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
        spec = {_RENAMED.get((str(obj.get("kind")), key), key): value for key, value in (obj.get("spec") or {}).items()}
        named[f"{obj.get('kind')} {name}"] = _by_name(spec)
    return named


def _yunikorn(live: list[Obj]) -> Obj:
    """`queues.yaml` as it is, or within the ConfigMap that has it."""
    for obj in live:
        if isinstance(obj, Mapping) and "partitions" in obj:
            return obj
        inside = (obj.get("data") or {}).get("queues.yaml") if isinstance(obj, Mapping) else None
        if inside:
            import yaml

            found = yaml.safe_load(inside)
            if isinstance(found, Mapping) and "partitions" in found:
                return found
    raise DialectError("the file has no partitions:; give YuniKorn's queues.yaml, or the ConfigMap that has it")


def _queues(document: Obj) -> dict[str, Any]:
    """Queues by their full name, without what is below them."""
    found: dict[str, Any] = {}

    def walk(queue: Mapping[str, Any], above: str) -> None:
        name = f"{above}.{queue.get('name')}".lstrip(".")
        found[name] = {key: value for key, value in queue.items() if key not in ("name", "queues")}
        for inner in queue.get("queues") or ():
            walk(inner, name)

    for partition in document.get("partitions") or ():
        for queue in partition.get("queues") or ():
            walk(queue, "")
    return found


def _by_name(value: Any) -> Any:
    """Lists of named things as maps, so that a difference is said by name."""
    if isinstance(value, Mapping):
        return {key: _by_name(item) for key, item in value.items()}
    if (
        isinstance(value, list | tuple)
        and value
        and all(isinstance(item, Mapping) and "name" in item for item in value)
    ):
        return {item["name"]: _by_name({key: one for key, one in item.items() if key != "name"}) for item in value}
    return [_by_name(item) for item in value] if isinstance(value, list | tuple) else value


def _between(where: str, wanted: Any, found: Any, *, amounts: bool = False) -> Iterator[Drift]:
    if wanted is None and _is_filled_in(where.rpartition(".")[2].rpartition(" ")[2], found):
        return
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key in dict.fromkeys([*wanted, *found]):
            inside = amounts or key in _AMOUNTS
            at = f"{where}: {key}" if where and ":" not in where else f"{where}.{key}".lstrip(".")
            yield from _between(at, wanted.get(key), found.get(key), amounts=inside)
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _between(f"{where}[{index}]", one, other, amounts=amounts)
    elif not _same(wanted, found, amounts):
        yield Drift(where, found, wanted)


def _is_filled_in(name: str, found: Any) -> bool:
    """Whether it is there only because a server put it there."""
    if isinstance(found, Mapping):
        return bool(found) and all(_is_filled_in(key, value) for key, value in found.items())
    return found in _FILLED_IN.get(name, ())


def _same(wanted: Any, found: Any, amounts: bool) -> bool:
    if wanted == found or (wanted in _SILENCE and found in _SILENCE):
        return True
    if isinstance(wanted, bool) or isinstance(found, bool) or wanted in _SILENCE or found in _SILENCE:
        return False
    if not amounts:
        return str(wanted) == str(found)
    try:
        return Quantity.parse(str(wanted)) == Quantity.parse(str(found))
    except QuantityError:
        return False
