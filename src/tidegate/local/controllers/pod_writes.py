"""Creating and deleting pods in numbers, without flooding a server that refuses them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.recorder import Happening

PODS: Resource[Pod] = Resource("", "v1", "pods", "Pod", type=Pod)
_AT_ONCE = 64


async def create_pods(client: Client, namespace: str, bodies: Sequence[Object]) -> tuple[list[Pod], StatusError | None]:
    """The pods that were made, and why the rest was not.

    One at first, then twice as many each time: when a quota is exhausted, that is learnt from one refusal, not from
    hundreds.
    """
    made: list[Pod] = []
    batch = 1
    while len(made) < len(bodies):
        part = bodies[len(made) : len(made) + batch]
        results = await asyncio.gather(*(_create(client, namespace, body) for body in part))
        made += [each for each in results if isinstance(each, Pod)]
        refused = next((each for each in results if isinstance(each, StatusError)), None)
        if refused is not None:
            return made, refused
        batch = min(batch * 2, _AT_ONCE)
    return made, None


async def _create(client: Client, namespace: str, body: Object) -> Pod | StatusError:
    try:
        return await client.create(PODS, body, namespace)
    except StatusError as error:
        return error


async def delete_pods(client: Client, pods: Iterable[Pod]) -> None:
    """All of them; one that is gone already is fine. The uid guards a namesake that came since."""

    async def delete(pod: Pod) -> None:
        await client.delete(PODS, pod.metadata.name, pod.metadata.namespace, uid=pod.uid)

    await each_pod(pods, delete)


async def strip_finalizer(client: Client, pods: Iterable[Pod], finalizer: str) -> None:
    async def strip(pod: Pod) -> None:
        patch = {"metadata": {"uid": pod.uid, "$deleteFromPrimitiveList/finalizers": [finalizer]}}
        await client.patch(PODS, pod.metadata.name, patch, pod.metadata.namespace, type="strategic")

    await each_pod(pods, strip)


async def each_pod(pods: Iterable[Pod], write: Callable[[Pod], Awaitable[None]]) -> None:
    """Writes to many pods at once; raises the first refusal after all were tried. 404 and a changed uid mean gone."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(pod: Pod) -> StatusError | None:
        async with gate:
            try:
                await write(pod)
            except StatusError as error:
                return None if error.code in {404, 409} else error
        return None

    for error in await asyncio.gather(*(one(pod) for pod in pods)):
        if error is not None:
            raise error


def created(pods: Iterable[Pod]) -> list[Happening]:
    return [Happening("Normal", "SuccessfulCreate", f"Created pod: {pod.metadata.name}") for pod in pods]


def deleted(pods: Iterable[Pod]) -> list[Happening]:
    return [Happening("Normal", "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}") for pod in pods]


def refused(error: StatusError) -> Happening:
    return Happening("Warning", "FailedCreate", f"Error creating: {error.message}")
