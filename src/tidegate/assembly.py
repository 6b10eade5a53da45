"""Everything put together: the only file that knows everybody.

`python -m tidegate.assembly` is the control plane of one machine with the operator inside, as `tidegate up` starts it;
`operate` is the operator alone, against any Kubernetes.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

# The operator's own modules are imported where it begins: a server that answers first is ready twice as fast.
if TYPE_CHECKING:
    from pathlib import Path

    from tidegate.controller.doors.judge import Judge
    from tidegate.controller.doors.owners import Owners
    from tidegate.controller.operator import Operator
    from tidegate.controller.replica import Settings
    from tidegate.controller.watch.cache import Cache
    from tidegate.kube.client import Client
    from tidegate.kube.wire import Object
    from tidegate.local.admission.attributes import Attributes
    from tidegate.local.control_plane import ControlPlane
    from tidegate.local.store import Change, Store
    from tidegate.model.jobs import Kinds
    from tidegate.workloads import Above

_SYNC_S = 10.0


class Heard:
    """Whether the operator has heard of every queue and namespace as it was last committed. Who makes a Queue and then
    a pod at once must not be told that there is none."""

    def __init__(self, store: Store, cache: Cache) -> None:
        self._behind: dict[str, int] = {}
        self._caught_up = asyncio.Event()
        self._informers = {
            "tidegate.dev/queues/": cache.queues,
            "tidegate.dev/clusterqueues/": cache.cluster_queues,
            "core/namespaces/": cache.namespaces,
        }
        store.listen(self._committed)
        for prefix, informer in self._informers.items():
            informer.on_change(partial(self._told, prefix))

    def _committed(self, change: Change) -> None:
        if change.row.key.startswith(tuple(self._informers)):
            self._behind[change.row.key] = change.row.revision

    def _told(self, prefix: str, old: Object | None, new: Object | None) -> None:
        meta = (new or old or {})["metadata"]
        key = prefix + (f"{meta['namespace']}/" if meta.get("namespace") else "") + meta["name"]
        if new is None or int(meta["resourceVersion"]) >= self._behind.get(key, 0):
            self._behind.pop(key, None)
        if not self._behind:
            self._caught_up.set()

    async def everything(self) -> None:
        """Returns when it has; it is a matter of moments."""
        while self._behind:
            self._caught_up.clear()
            await self._caught_up.wait()


class InProcessDoor:
    """The doors as admission of the embedded server. Whoever comes before the operator is there waits for it: to judge
    without its queues would be to guess."""

    def __init__(self, store: Store, client: Client) -> None:
        self._store = store
        self._client = client
        self._judge: Judge | None = None
        self._heard: Heard | None = None
        self._owners: Owners | None = None
        self._opened = asyncio.Event()

    async def open(self, operator: Operator) -> None:
        """From now on it judges, by what the operator knows."""
        from tidegate.controller.doors.judge import Judge
        from tidegate.controller.doors.owners import Owners

        await operator.cache.synced()
        self._heard = Heard(self._store, operator.cache)
        self._judge = Judge(operator.cache, operator.managed)
        self._owners = Owners(self._client, operator.cache.kinds)
        self._opened.set()

    async def mutate(self, asked: Attributes) -> None:
        if asked.operation not in ("CREATE", "UPDATE") or asked.subresource or asked.obj is None:
            return
        if asked.operation == "CREATE" and asked.namespace and not asked.namespace.startswith("kube-"):
            await _at_most(_SYNC_S, self._opened.wait())
        judge, what = self._judge, (asked.served.group, asked.served.plural)
        if judge is None or self._heard is None or self._owners is None or not judge.is_asked(what):
            return
        await _at_most(_SYNC_S, self._heard.everything())
        above = await self._owners.of(asked.obj, asked.namespace) if asked.operation == "CREATE" else {}
        _carry_out(judge, asked, asked.obj, above)

    async def validate(self, asked: Attributes) -> None:
        """Everything here is decided when the object is changed."""


async def _at_most(seconds: float, done: Coroutine[Any, Any, object]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await done


def _carry_out(judge: Judge, asked: Attributes, obj: Object, above: Above) -> None:
    from tidegate.controller.doors.door import InvalidError, RefusedError, Submitter
    from tidegate.controller.doors.judge import Write
    from tidegate.local.errors import ApiError, forbidden
    from tidegate.model.jobs import JobError

    group, plural = what = asked.served.group, asked.served.plural
    write = Write(
        what=what, namespace=asked.namespace, obj=obj, old=asked.old,
        by=Submitter(asked.user.name, asked.user.groups), may_grant=partial(_may_grant, asked), above=above,
    )  # fmt: skip
    try:
        judged = judge.judge(write)
    except (InvalidError, JobError) as error:
        raise ApiError(422, "Invalid", f"tidegate: {error}", {}) from None
    except RefusedError as refused:
        raise forbidden(group, plural, asked.name, str(refused)) from None
    asked.obj = dict(judged.obj)
    asked.warnings += judged.warnings


def _may_grant(asked: Attributes) -> bool:
    question = {"group": "tidegate.dev", "resource": "workloads", "subresource": "status", "verb": "update"}
    return asked.ask({**question, "namespace": asked.namespace})[0]


async def beside(plane: ControlPlane) -> None:
    """The operator in the control plane's own process: its kinds and its doors at once, its circle a moment later."""
    from tidegate.controller.bootstrap import install_kinds, make_default_queue, make_root, mark_inside

    kinds = kinds_in(plane.kubeconfig.with_name("kinds.yaml"))
    await install_kinds(plane.client)
    await make_root(plane.client)
    await make_default_queue(plane.client)
    await mark_inside(plane.client)
    door = InProcessDoor(plane.store, plane.client)
    # Before those that judge: they are to see what it made of the object.
    plane.api.admission.plugins.insert(1, door)
    plane.run_beside("operator", _run_operator(plane.client, door, kinds))


def kinds_in(path: Path) -> Kinds:
    """The table, and the kinds of a file that people may lay into the folder, beside that of images. What cannot be
    read ends the control plane with a sentence: what would not be queued must not run unqueued."""
    import yaml

    from tidegate.model.jobs import builtin, parse_kinds
    from tidegate.model.problems import ManifestError

    if not path.exists():
        return builtin()
    try:
        return builtin().with_more(parse_kinds(yaml.safe_load(path.read_text(encoding="utf-8"))))
    except (ManifestError, yaml.YAMLError, OSError, UnicodeError) as error:
        raise SystemExit(f"{path}: {' '.join(str(error).split())}. Correct it, or take it away.") from None


async def _run_operator(client: Client, door: InProcessDoor, kinds: Kinds) -> None:
    from tidegate.controller.doors.hooks import Where
    from tidegate.controller.doors.keeping import Keeping
    from tidegate.controller.doors.policy import binding, policy
    from tidegate.controller.operator import Operator
    from tidegate.controller.policies import policies_at_work

    operator = Operator(client, kinds=kinds, policies=policies_at_work(), everywhere=True)
    where = Where(everywhere=True)
    keeping = Keeping(client, lambda: [policy(operator.cache.kinds), binding(where)])
    async with asyncio.TaskGroup() as group:
        group.create_task(keeping.run())
        group.create_task(operator.run())
        group.create_task(door.open(operator))


async def operate(client: Client, settings: Settings) -> None:
    """The operator alone, against any Kubernetes: one replica of several."""
    from tidegate.controller.replica import Replica
    from tidegate.kube.pauses import collect_rarely

    collect_rarely()
    await Replica(client, settings).run()


def main() -> None:
    from tidegate.local.apiserver.__main__ import main as serve

    serve(beside)


if __name__ == "__main__":
    main()
