"""Cluster roles that aggregate others: their rules are kept to be those of all roles they select."""

from __future__ import annotations

import asyncio
import logging

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.local.apiserver.answers import decode
from tidegate.local.apiserver.selectors import selector_of
from tidegate.local.store import Change, Store

log = logging.getLogger(__name__)

_PREFIX = "rbac.authorization.k8s.io/clusterroles/"
_ROLES: Resource[Object] = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)


class RoleAggregation:
    def __init__(self, store: Store, client: Client) -> None:
        self._store = store
        self._client = client
        self._woken = asyncio.Event()

    async def run(self) -> None:
        self._store.listen(self._heard)
        while True:
            self._woken.clear()
            await self._settle()
            await self._woken.wait()

    def _heard(self, change: Change) -> None:
        if change.row.key.startswith(_PREFIX):
            self._woken.set()

    async def _settle(self) -> None:
        """Writes what is not as it should be; a role that aggregates aggregates is settled by the next round."""
        roles = [decode(row.value) for row in self._store.range(_PREFIX)]
        for role in roles:
            rule = role.get("aggregationRule")
            if not rule:
                continue
            rules = _collected(role, rule, roles)
            if rules != (role.get("rules") or []):
                try:
                    await self._client.patch(_ROLES, role["metadata"]["name"], {"rules": rules})
                except StatusError as error:
                    log.warning("cluster role %s cannot be aggregated: %s", role["metadata"]["name"], error.message)


def _collected(role: Object, rule: Object, roles: list[Object]) -> list[Object]:
    wanted = [selector_of(raw) for raw in rule.get("clusterRoleSelectors") or []]
    found: list[Object] = []
    for other in sorted(roles, key=lambda each: str(each["metadata"]["name"])):
        if other is role or not any(chosen(other["metadata"].get("labels") or {}) for chosen in wanted):
            continue
        found += [each for each in other.get("rules") or [] if each not in found]
    return found
