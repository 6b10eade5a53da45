"""ResourceQuota: a new object must fit in what its namespace may still use, and takes its part at once.

What is used stands in each quota's status. The part of a new object is added there by compare-and-swap before the
object is stored, so two writers cannot both take the last place; what was taken for a write that then failed comes
back when the quota controller next counts.
"""

from __future__ import annotations

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.answers import decode
from tidegate.local.controllers.quota_usage import QuotaSpec, Usage, charge
from tidegate.local.errors import forbidden
from tidegate.local.store import Kept, Row, Store
from tidegate.model.quantity import ZERO, Quantity

_PREFIX = "core/resourcequotas/"
_COMPUTE = ("cpu", "memory", "ephemeral-storage")


class Quota:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._quoted = Kept(store, (_PREFIX,), self._read)

    def _read(self) -> set[str]:
        """The namespaces that have a quota at all."""
        return {row.key.removeprefix(_PREFIX).partition("/")[0] for row in self._store.range(_PREFIX)}

    async def mutate(self, asked: Attributes) -> None:
        """Judged last, when nothing changes the object any more."""

    async def validate(self, asked: Attributes) -> None:
        served = asked.served
        if asked.operation not in ("CREATE", "UPDATE") or asked.subresource or not served.namespaced or not asked.obj:
            return
        if asked.namespace not in self._quoted():
            return
        rows = self._store.range(f"core/resourcequotas/{asked.namespace}/")
        if not rows or (served.group, served.plural) == ("", "events"):
            return
        quotas = [(row, decode(row.value)) for row in map(self._newest, rows) if row is not None]
        wanted = [(row, quota, self._needed(asked, quota)) for row, quota in quotas]
        for _, quota, needed in wanted:
            _check_named(asked, quota)
            _check_room(asked, quota, needed)
        if not asked.dry_run:
            for row, quota, needed in wanted:
                self._take(row, quota, needed)

    def _newest(self, row: Row) -> Row | None:
        return self._store.newest(row.key)

    @staticmethod
    def _needed(asked: Attributes, quota: Object) -> Usage:
        """What the write uses more than there was before."""
        spec, served = _spec(quota), asked.served
        assert asked.obj is not None
        needed = charge(spec, served.group, served.plural, asked.obj)
        if asked.old is not None:
            before = charge(spec, served.group, served.plural, asked.old)
            needed = {name: amount - before.get(name, ZERO) for name, amount in needed.items()}
        return {name: amount for name, amount in needed.items() if amount > ZERO}

    def _take(self, row: Row, quota: Object, needed: Usage) -> None:
        status = quota.get("status") or {}
        if not needed or not status.get("hard"):
            return
        used = status.setdefault("used", {})
        for name, amount in needed.items():
            if name in status["hard"]:
                used[name] = str(Quantity.parse(used.get(name, "0")) + amount)

        def made(revision: int) -> bytes:
            quota["metadata"]["resourceVersion"] = str(revision)
            return msgspec.json.encode(quota)

        self._store.put(row.key, made, expected=row)


def _spec(quota: Object) -> QuotaSpec:
    return msgspec.convert(quota.get("spec") or {}, QuotaSpec, strict=False)


def _check_room(asked: Attributes, quota: Object, needed: Usage) -> None:
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    short = [
        name
        for name, amount in sorted(needed.items())
        if name in hard and Quantity.parse(used.get(name, "0")) + amount > Quantity.parse(hard[name])
    ]
    if not short:
        return
    requested = ",".join(f"{name}={needed[name]}" for name in short)
    in_use = ",".join(f"{name}={used.get(name, '0')}" for name in short)
    limited = ",".join(f"{name}={hard[name]}" for name in short)
    why = f"exceeded quota: {quota['metadata']['name']}, requested: {requested}, used: {in_use}, limited: {limited}"
    raise forbidden(asked.served.group, asked.served.plural, asked.name, why)


def _check_named(asked: Attributes, quota: Object) -> None:
    """Where a quota counts cpu or memory, a pod must say how much it wants."""
    if asked.operation != "CREATE" or (asked.served.group, asked.served.plural) != ("", "pods"):
        return
    assert asked.obj is not None
    spec = _spec(quota)
    if not charge(QuotaSpec({"pods": "1"}, spec.scopes, spec.scope_selector), "", "pods", asked.obj):
        return
    missing = []
    for name in sorted(spec.hard):
        field, _, resource = name.rpartition(".")
        if resource not in _COMPUTE or field not in ("", "requests", "limits"):
            continue
        without = [c["name"] for c in _containers(asked.obj) if resource not in _given(c, field or "requests")]
        if without:
            missing.append(f"{name} for: {','.join(sorted(without))}")
    if missing:
        why = f"failed quota: {quota['metadata']['name']}: must specify {'; '.join(missing)}"
        raise forbidden("", "pods", asked.name, why)


def _containers(pod: Object) -> list[Object]:
    return [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or [])]


def _given(container: Object, field: str) -> Object:
    given: Object = (container.get("resources") or {}).get(field) or {}
    return given
