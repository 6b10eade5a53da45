"""Objects whose pods another object describes, such as a TrainJob and its runtime: both are rendered as one.

The object can say little of such pods, and neither labels nor a scheduler. So what describes them is copied into its
namespace under a name of its own, the copy carries what the scheduler reads, and the object refers to the copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.names import dns_name
from tidegate.model.jobs import JobKind, Kinds, Obj, Scope, merge, peek, podsets, put, without

_HERE = "referred"
"""Where the other object stands in the draft while both are one."""


def find_referred(entry: JobKind, obj: Obj, given: Iterable[Any]) -> Obj | None:
    """The object that describes another's pods, among those given; None where it describes them itself."""
    if entry.refers is None:
        return None
    scope = Scope(obj)
    kind, name = str(entry.refers.kind.value(scope) or entry.refers.kinds[0]), entry.refers.name.value(scope)
    same = (each for each in given if isinstance(each, Mapping) and each.get("kind") == kind)
    return next((each for each in same if peek(each, ("metadata", "name")) == name), None)


def begin_with(obj: Obj, kinds: Kinds, referred: Obj) -> Draft:
    """A draft of both."""
    entry = kinds.of(obj)
    shapes = podsets(entry, obj, referred=referred, find=kinds.find)
    placed = tuple(
        replace(shape, place=shape.foreign.under((_HERE,))) if shape.foreign is not None else shape for shape in shapes
    )
    return Draft({**obj, _HERE: referred}, entry, kinds, placed)


def parted(draft: Draft, scheduler: str) -> Draft:
    """The object and the copy that it refers to, each by itself."""
    refers = draft.entry.refers
    if refers is None or _HERE not in draft.obj:
        return draft
    described, obj = draft.obj[_HERE], without(draft.obj, (_HERE,))
    scope = Scope(obj)
    name = dns_name(f"{draft.name}-{scheduler}", "the name of the copy")
    # The last kind is the one that stands beside the object, in its own namespace.
    copied = {**described, "kind": refers.kinds[-1], "metadata": _metadata(described, name, draft.namespace)}
    obj = put(put(obj, refers.name.place(scope), name), refers.kind.place(scope), refers.kinds[-1])
    about = f"{described.get('kind')} {(described.get('metadata') or {}).get('name')}"
    said = f"its pods are described there, so a copy for this scheduler, {refers.kinds[-1]} {name}, is made beside it"
    return replace(draft, obj=obj).beside(copied).noted(Fate.CHANGED, about, said)


def _metadata(described: Obj, name: str, namespace: str) -> Obj:
    before = described.get("metadata") or {}
    kept = {key: before[key] for key in ("labels", "annotations") if before.get(key)}
    result: Obj = merge({"name": name, **kept}, (), {"namespace": namespace} if namespace else {})
    return result
