"""The loop that binds waiting pods to this node, one after the other, and tells those that wait why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidegate.kube.backoff import Backoff
from tidegate.kube.client import Client, StatusError
from tidegate.kube.informer import Informer
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object
from tidegate.local.agent import bind
from tidegate.local.agent.pod.status import stamp

Spec = Mapping[str, Any]

_log = logging.getLogger(__name__)


class Binder:
    """Looks at all waiting pods whenever one came, one went, or room was made."""

    def __init__(
        self, client: Client, *, node: Callable[[], Spec], present: Callable[[], Iterable[Spec]],
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._client = client
        self._node = node
        self._present = present
        self._clock = clock
        # Many pods may wait for something else (a gate, another scheduler): those are not looked at again and again.
        ours: dict[str, Callable[[Object], Iterable[str]]] = {"ours": lambda pod: ["yes"] if bind.may_bind(pod) else []}
        self._waiting: Informer[Object] = Informer(client, PODS, fields="spec.nodeName=", indexes=ours)
        self._waiting.on_change(self._on_change)
        self._changed = asyncio.Event()
        self._assumed: dict[str, Spec] = {}
        self._told: dict[str, str] = {}
        self._backoff = Backoff()

    def _on_change(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            self._told.pop(old["metadata"]["uid"], None)
        if any(bind.may_bind(pod) for pod in (old, new) if pod is not None):
            self._changed.set()

    def room_made(self) -> None:
        """Something on the node changed; pods that did not fit may fit now."""
        self._changed.set()

    async def run(self) -> None:
        following = asyncio.create_task(self._waiting.run())
        try:
            await self._waiting.synced()
            while True:
                await self._changed.wait()
                self._changed.clear()
                if await self._round():
                    self._backoff.reset()
                else:
                    await asyncio.sleep(self._backoff.next_s())
                    self._changed.set()
        finally:
            following.cancel()

    async def _round(self) -> bool:
        """False if a write failed and is to be tried again; those behind it have had their turn."""
        done = True
        for pod in sorted(self._waiting.by("ours", "yes"), key=bind.turn):
            try:
                await self._look(pod)
            except (StatusError, OSError) as error:
                _log.warning("Pod %s could not be bound or told why it waits: %s", pod["metadata"]["name"], error)
                done = False
        return done

    async def _look(self, pod: Spec) -> None:
        if pod["metadata"]["uid"] in self._assumed:
            return
        if reasons := bind.misfits(pod, self._node(), self._taken()):
            await self._tell(pod, reasons)
        else:
            await self._bind(pod)

    def _taken(self) -> list[Spec]:
        """Pods that hold room: those seen on the node, and those bound that have not been seen there yet."""
        seen = {pod["metadata"]["uid"]: pod for pod in self._present()}
        waiting = {pod["metadata"]["uid"] for pod in self._waiting.all()}
        self._assumed = {uid: pod for uid, pod in self._assumed.items() if uid not in seen and uid in waiting}
        held = [pod for pod in seen.values() if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")]
        return [*held, *self._assumed.values()]

    async def _bind(self, pod: Spec) -> None:
        meta = pod["metadata"]
        target = {"apiVersion": "v1", "kind": "Node", "name": self._node()["metadata"]["name"]}
        body = {"apiVersion": "v1", "kind": "Binding", "target": target}
        body |= {"metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]}}
        self._assumed[meta["uid"]] = pod
        try:
            await self._client.create(PODS, body, meta["namespace"], subresource="binding")
        except OSError:
            self._assumed.pop(meta["uid"], None)
            raise
        except StatusError as error:
            self._assumed.pop(meta["uid"], None)
            if error.code not in (404, 409):
                raise

    async def _tell(self, pod: Spec, reasons: list[str]) -> None:
        meta = pod["metadata"]
        message = f"0/1 nodes are available: {', '.join(f'1 {reason}' for reason in reasons)}."
        if self._told.get(meta["uid"]) == message:
            return
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        condition["lastTransitionTime"] = stamp(self._clock())
        patch = {"metadata": {"uid": meta["uid"]}, "status": {"conditions": [condition]}}
        try:
            await self._client.patch(
                PODS, meta["name"], patch, meta["namespace"], type="strategic", subresource="status"
            )
        except StatusError as error:
            if error.code not in (404, 409):
                raise
        self._told[meta["uid"]] = message
