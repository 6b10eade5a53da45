"""What pods refer to, fetched from the API server: configMaps, secrets and service account tokens."""

from __future__ import annotations

import asyncio
import time
from calendar import timegm
from collections.abc import Callable, Mapping
from typing import Any

from tidegate.kube.client import Client, StatusError
from tidegate.kube.informer import Informer
from tidegate.kube.resources import CONFIGMAPS, SECRETS, SERVICEACCOUNTS
from tidegate.local.agent.sandbox.problems import Missing, Unrunnable

Spec = Mapping[str, Any]

_KINDS = {"ConfigMap": CONFIGMAPS, "Secret": SECRETS}


class ApiObjects:
    """Fetched when needed, never kept: secrets of pods stay out of the agent's memory."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def config_map(self, namespace: str, name: str) -> Spec:
        return await self._get("ConfigMap", namespace, name)

    async def secret(self, namespace: str, name: str) -> Spec:
        return await self._get("Secret", namespace, name)

    async def _get(self, kind: str, namespace: str, name: str) -> Spec:
        try:
            return await self._client.get(_KINDS[kind], name, namespace)
        except StatusError as error:
            if error.code == 404:
                raise Missing("CreateContainerConfigError", kind, namespace, name) from error
            raise Unrunnable("CreateContainerConfigError", error.message) from error


class Awaited:
    """Watches for what pods wait for, one object at a time, and tells when it is there."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks: dict[tuple[str, str, str], asyncio.Task[None]] = {}
        self._waiting: dict[tuple[str, str, str], set[str]] = {}

    def wait(self, missing: Missing, pod_uid: str, tell: Callable[[str], None]) -> None:
        key = (missing.kind, missing.namespace, missing.name)
        self._waiting.setdefault(key, set()).add(pod_uid)
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._follow(key, tell))

    async def _follow(self, key: tuple[str, str, str], tell: Callable[[str], None]) -> None:
        kind, namespace, name = key
        there = asyncio.Event()
        informer = Informer(self._client, _KINDS[kind], namespace, fields=f"metadata.name={name}")
        informer.on_change(lambda _, new: there.set() if new is not None else None)
        running = asyncio.create_task(informer.run())
        try:
            await there.wait()
        finally:
            running.cancel()
            if self._tasks.get(key) is asyncio.current_task():
                del self._tasks[key]
        for pod_uid in self._waiting.pop(key, ()):
            tell(pod_uid)

    def forget(self, pod_uid: str) -> None:
        """Stops waiting for a pod that has gone; nobody left to wait for ends the watch."""
        for key, pods in list(self._waiting.items()):
            pods.discard(pod_uid)
            if not pods:
                del self._waiting[key]
                # At once: who waits for the same from now on needs a watch of its own, not one that is ending.
                self._tasks.pop(key).cancel()

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()


class ServiceAccountTokens:
    """Tokens bound to their pod, asked for again when four fifths of their life are over."""

    def __init__(self, client: Client, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._clock = clock
        self._held: dict[tuple[str, str], tuple[str, float]] = {}

    async def token(self, pod: Spec, audience: str, lifetime_s: int) -> str:
        key = (pod["metadata"]["uid"], audience)
        held = self._held.get(key)
        if held and held[1] > self._clock():
            return held[0]
        meta, now = pod["metadata"], self._clock()
        account = pod["spec"].get("serviceAccountName") or "default"
        bound = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        spec = {"audiences": [audience] if audience else [], "expirationSeconds": lifetime_s, "boundObjectRef": bound}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        body |= {"metadata": {"name": account, "namespace": meta["namespace"]}}
        try:
            answer = await self._client.create(SERVICEACCOUNTS, body, meta["namespace"], subresource="token")
        except StatusError as error:
            text = f"No token for service account {account}: {error.message}"
            raise Unrunnable("FailedMount", text) from error
        status = answer["status"]
        ends = timegm(time.strptime(status["expirationTimestamp"], "%Y-%m-%dT%H:%M:%SZ"))
        self._held[key] = (status["token"], now + min((ends - now) * 0.8, 86400.0))
        return str(status["token"])

    def forget(self, pod_uid: str) -> None:
        for key in [key for key in self._held if key[0] == pod_uid]:
            del self._held[key]
