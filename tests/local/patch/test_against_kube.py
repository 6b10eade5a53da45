"""The same writes on a real API server and through the library: same answer, same object, same owners of fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.patch.worlds import WIDGET_CRD, World, worlds
from tidegate.local.errors import ApiError
from tidegate.local.patch import Applier, json_patch, merge_patch, server_side_apply, strategic_patch, track_update
from tidegate.local.schema.node import Schema

pytestmark = pytest.mark.kube

Object = dict[str, Any]
MANAGERS = ("ann", "bob", "cy", "kubectl")
WORLDS = worlds()
PATCH_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


def right_now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def untimed(entries: list[Object] | None) -> list[Object]:
    """Entries in an order that does not depend on the clock."""
    plain = [{key: value for key, value in entry.items() if key != "time"} for entry in entries or []]
    return sorted(plain, key=lambda entry: json.dumps(entry, sort_keys=True))


def untimed_presence(entries: list[Object] | None) -> set[tuple[str, str, str, bool]]:
    return {(e["manager"], e["operation"], e.get("subresource", ""), "time" in e) for e in entries or []}


def meaning(value: Any) -> Any:
    """A value without what Go leaves out when it writes structs."""
    if isinstance(value, dict):
        inner = {key: meaning(field) for key, field in value.items()}
        return {key: field for key, field in inner.items() if field not in (None, False, 0, "", [], {})}
    if isinstance(value, list):
        return [meaning(item) for item in value]
    return value


def lacks(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Where `theirs` differs from or lacks what `ours` says; more fields in it (defaults) are well."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [problem for key, value in ours.items() for problem in lacks(value, theirs.get(key), f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [problem for at, value in enumerate(ours) for problem in lacks(value, theirs[at], f"{path}[{at}]")]
    return [] if ours == theirs else [f"{path}: ours {ours!r}, theirs {theirs!r}"]


def known(value: Any, schema: Schema) -> Any:
    """A value without the fields its schema does not have, which the server drops after patching."""
    if isinstance(value, dict) and schema.type == "object" and not schema.preserve_unknown:
        found = {key: schema.child(key) for key in value}
        return {key: known(value[key], inner) for key, inner in found.items() if inner is not None}
    if isinstance(value, list) and schema.items:
        return [known(item, schema.items) for item in value]
    return value


def substance(obj: Object) -> Object:
    """An object without what the server counts and stamps."""
    metadata = {
        key: value
        for key, value in obj.get("metadata", {}).items()
        if key not in ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "namespace")
    }
    return meaning({**obj, "metadata": metadata})


class Comparison:
    """One object on the real server, and what the library makes of each request to it."""

    def __init__(self, cluster: Cluster, world: World, seed: int) -> None:
        self.cluster = cluster
        self.world = world
        self.random = Random(seed)
        self.name = f"{world.kind.lower()}-{seed}"
        self.cluster.http("DELETE", f"{world.path(self.name)}?gracePeriodSeconds=0")
        self.history: list[str] = []
        self.few = self.random.choice([1, 1, 0.2])

    def live(self) -> Object | None:
        reply = self.cluster.http("GET", self.world.path(self.name))
        return reply.json if reply.status == 200 else None

    def run(self, steps: int) -> None:
        for _ in range(steps):
            live = self.live()
            if live is None:
                self.random.choice([self.create, self.apply])(live)
            else:
                doings = [self.apply, self.apply, self.apply, self.update, self.merge, self.json]
                doings += [self.strategic] if self.world.strategic else []
                doings += [self.status_update, self.status_apply] if self.world.draw_status else []
                self.random.choice(doings)(live)

    def create(self, _: Object | None) -> None:
        manager = self.manager()
        config = self.world.config(self.random, self.name)
        reply = self.send("POST", "", manager, config)
        if reply.status == 201:
            self.check_tracking(None, reply.json, manager)

    def update(self, live: Object) -> None:
        manager = self.manager()
        body = deepcopy(live)
        drawn = self.world.config(self.random, self.name)
        for key, value in drawn.items():
            if key != "metadata" and isinstance(value, dict) and self.random.random() < 0.8:
                chosen = {name: value[name] for name in value if self.random.random() < 0.6}
                body[key] = {**body.get(key, {}), **chosen}
        for key in ("labels", "annotations"):
            if self.random.random() < 0.3:
                body["metadata"][key] = drawn["metadata"].get(key, {})
        if self.random.random() < 0.2:
            body["metadata"]["managedFields"] = self.random.choice([None, [{}], [], [{"manager": "x"}]])
        elif self.random.random() < 0.2:
            body["metadata"]["managedFields"] = self.edited(body["metadata"].get("managedFields") or [])
        reply = self.send("PUT", self.name, manager, body)
        if reply.status == 200:
            told = {**reply.json, "metadata": {**reply.json["metadata"]}}
            told["metadata"]["managedFields"] = body["metadata"].get("managedFields")
            self.check_tracking(live, told, manager, theirs=reply.json)

    def edited(self, entries: list[Object]) -> list[Object]:
        """Entries as somebody leaves them who takes managedFields into their own hands."""
        result = [entry for entry in entries if self.random.random() < 0.7]
        for at, entry in enumerate(result):
            change: Object = self.random.choice(
                [
                    {},
                    {"manager": "renamed"},
                    {"operation": "Apply"},
                    {"fieldsV1": {"f:metadata": {"f:labels": {"f:app": {}}, "x:unknown": {}}}},
                    {"fieldsV1": {}},
                    {"subresource": "status"},
                    {"time": None},
                ]
            )
            result[at] = entry | change
        return result

    def merge(self, live: Object) -> None:
        patch = self.world.config(self.random, self.name)
        patch = {key: patch[key] for key in patch if self.random.random() < 0.7}
        if self.random.random() < 0.3:
            patch["metadata"] = {"labels": {"app": None, "new": "n"}, "annotations": None}
        self.patch(live, "merge", patch, lambda: merge_patch(live, patch))

    def strategic(self, live: Object) -> None:
        patch = self.world.config(self.random, self.name)
        patch = {key: patch[key] for key in patch if self.random.random() < 0.7}
        self.direct(patch.get("spec", {}))
        self.patch(live, "strategic", patch, lambda: strategic_patch(live, patch, self.world.schema))

    def direct(self, spec: Object) -> None:
        """Sprinkles strategic directives over a patch."""
        random = self.random
        inner = spec.get("template", {}).get("spec", spec)
        for container in inner.get("containers", []):
            if random.random() < 0.15:
                container["$patch"] = random.choice(["delete", "replace", "merge", "nonsense"])
            for name in list(container):
                if random.random() < 0.05:
                    container[name] = None
            if container.get("env") and random.random() < 0.3:
                container["env"].append({"name": "A", "$patch": random.choice(["delete", "replace"])})
        if random.random() < 0.3:
            order = [{"name": name} for name in ("two", "one", "three")]
            random.shuffle(order)
            inner["$setElementOrder/containers"] = order
        if random.random() < 0.2:
            inner["$retainKeys"] = random.choice([list(inner), ["containers"], "wrong"])
        if random.random() < 0.1:
            inner["$patch"] = random.choice(["delete", "replace", "nonsense"])

    def json(self, live: Object) -> None:
        random = self.random
        paths = [
            "/metadata/labels",
            "/metadata/labels/app",
            "/metadata/annotations/x.io~1one",
            "/spec",
            "/data",
            "/data/a",
        ]
        paths += ["/spec/template/spec/containers/0/image", "/spec/template/spec/containers/-", "/spec/ports/0/port"]
        paths += [
            "/spec/items/0",
            "/spec/items/-1",
            "/spec/tags/-",
            "/spec/tags/0",
            "/spec/size",
            "",
            "x",
            "/spec/steps/5",
        ]
        values: list[Any] = ["a", 1, {"app": "a"}, {}, None, ["x"], {"name": "a"}]
        operations: list[Object] = []
        for _ in range(random.choice([1, 1, 2, 3])):
            operation: Object = {"op": random.choice(["add", "replace", "remove", "test", "copy", "move", "bogus"])}
            operation["path"] = random.choice(paths)
            if operation["op"] in ("copy", "move"):
                operation["from"] = random.choice(paths)
            if operation["op"] in ("add", "replace", "test"):
                operation["value"] = random.choice(values)
            operations.append(operation)
        self.patch(live, "json", operations, lambda: json_patch(live, operations))

    def patch(self, live: Object, sort: str, patch: Any, ours: Any) -> None:
        manager = self.manager()
        reply = self.send("PATCH", self.name, manager, patch, content=PATCH_TYPES[sort])
        try:
            result = ours()
        except ApiError as refusal:
            self.expect_refusal(reply, refusal)
            return
        if reply.status == 200:
            result = known(result, self.world.schema)
            self.expect([], lacks(substance(result), meaning(reply.json)))
            if self.world.exact and not self.world.custom:
                self.expect(substance(reply.json), substance(result))
            told = {**reply.json, "metadata": {**reply.json["metadata"]}}
            told["metadata"]["managedFields"] = result["metadata"].get("managedFields")
            self.check_tracking(live, told, manager, theirs=reply.json)
        else:
            # The patch applied, but what came out is no valid object.
            assert reply.status in (400, 422, 409), (reply.status, reply.body, self.history)

    def apply(self, live: Object | None) -> None:
        config = self.world.config(self.random, self.name)
        if self.random.random() < 0.05:
            config["metadata"]["resourceVersion"] = "1"
        self.applied(live, config, "")

    def status_apply(self, live: Object) -> None:
        assert self.world.draw_status
        config = self.world.config(self.random, self.name)
        config.pop("spec", None)
        config["metadata"] = {"name": self.name}
        self.applied(live, config | {"status": self.world.draw_status(self.random)}, "status")

    def applied(self, live: Object | None, config: Object, subresource: str) -> None:
        manager, force = self.manager(), self.random.random() < 0.4
        path = self.name + (f"/{subresource}" if subresource else "")
        reply = self.send("PATCH", path, manager, config, content=PATCH_TYPES["apply"], force=force)
        applier = Applier(
            manager=manager, force=force, now=right_now(), schema=self.world.schema,
            api_version=self.world.api_version, kind=self.world.kind, subresource=subresource,
            reset=self.world.reset(subresource),
        )  # fmt: skip
        try:
            result = server_side_apply(live, config, applier)
        except ApiError as refusal:
            self.expect_refusal(reply, refusal, exact=True)
            return
        if reply.status not in (200, 201):
            assert reply.status in (422, 409), (reply.status, reply.body, self.history)
            assert "Apply failed" not in reply.json["message"], (reply.body, self.history)
            return
        theirs = reply.json
        visible = {key: value for key, value in result.items() if f"f:{key}" not in self.world.reset(subresource)}
        self.expect([], lacks(substance(visible), meaning(theirs)))
        if self.world.exact and not self.world.custom:
            self.expect(substance(theirs), substance(result))
        ours = result["metadata"].get("managedFields")
        self.expect(untimed(theirs["metadata"].get("managedFields")), untimed(ours))
        self.expect(untimed_presence(theirs["metadata"].get("managedFields")), untimed_presence(ours))

    def status_update(self, live: Object) -> None:
        assert self.world.draw_status
        manager = self.manager()
        body = {**live, "status": self.world.draw_status(self.random)}
        reply = self.send("PUT", f"{self.name}/status", manager, body)
        if reply.status == 200:
            self.check_tracking(live, reply.json, manager, subresource="status")

    def check_tracking(
        self, old: Object | None, new: Object, manager: str, *, subresource: str = "", theirs: Object | None = None
    ) -> None:
        theirs = theirs or new
        if old is None:
            new = {**new, "metadata": {k: v for k, v in new["metadata"].items() if k != "managedFields"}}
            if self.world.late:
                new["spec"] = {key: value for key, value in new["spec"].items() if key not in self.world.late}
        result = track_update(
            old, new, manager=manager, api_version=self.world.api_version, schema=self.world.schema,
            now=right_now(), subresource=subresource, reset=self.world.reset(subresource),
        )  # fmt: skip
        ours = result["metadata"].get("managedFields")
        self.expect(untimed(theirs["metadata"].get("managedFields")), untimed(ours))

    def manager(self) -> str:
        """One of a few that meet often, or one of so many that they are too many."""
        return self.random.choice(MANAGERS) if self.random.random() < self.few else f"m{self.random.randrange(30)}"

    def send(
        self, method: str, name: str, manager: str, body: Any, *, content: str = "application/json", force: bool = False
    ) -> Any:
        query = f"?fieldManager={manager}" + ("&force=true" if force else "")
        reply = self.cluster.http(method, self.world.path(name) + query, json.dumps(body), {"Content-Type": content})
        self.history.append(f"{method} {name}{query} {content} {json.dumps(body)} -> {reply.status} {reply.body!r}")
        return reply

    def expect_refusal(self, reply: Any, refusal: ApiError, *, exact: bool = False) -> None:
        status = refusal.status()
        self.expect((reply.status, reply.json.get("reason", "")), (refusal.code, refusal.reason))
        if exact:
            self.expect(_causes(reply.json), _causes(status))
            if len(_causes(status)) == 1:
                self.expect(reply.json["message"], status["message"])

    def expect(self, theirs: Any, ours: Any) -> None:
        if theirs != ours:
            last = "\n".join(self.history[-3:])
            pytest.fail(f"\ntheirs: {_text(theirs)}\nours:   {_text(ours)}\nafter:\n{last}")


def _causes(status: Object) -> list[str]:
    return sorted(json.dumps(cause, sort_keys=True) for cause in status.get("details", {}).get("causes", []))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else repr(value)


@pytest.fixture(scope="module")
def cluster_with_widgets(quiet_cluster: Cluster) -> Iterator[Cluster]:
    quiet_cluster.http("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGET_CRD)
    quiet_cluster.eventually("/apis/patch.test/v1/namespaces/default/widgets", lambda reply: reply.status == 200)
    return quiet_cluster


@pytest.mark.parametrize("kind", WORLDS)
def test_random_writes_by_several_managers_end_the_same(cluster_with_widgets: Cluster, kind: str) -> None:
    for seed in range(20):
        Comparison(cluster_with_widgets, WORLDS[kind], seed).run(steps=15)


@pytest.mark.parametrize("changed_since", [False, True])
def test_kubectl_moves_from_the_annotation_to_server_side_apply_alike(
    cluster_with_widgets: Cluster, changed_since: bool
) -> None:
    world = WORLDS["configmap"]
    comparison = Comparison(cluster_with_widgets, world, 1000 + changed_since)

    def config(**data: str) -> Object:
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": comparison.name}, "data": data}

    first = config(a="1", b="<&>")
    annotation = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(first) + "\n"}
    created = first | {"metadata": {"name": comparison.name, "annotations": annotation}}
    comparison.send("POST", "", "kubectl-client-side-apply", created)
    if changed_since:
        change = {"data": {"a": "3"}}
        comparison.send("PATCH", comparison.name, "bob", change, content=PATCH_TYPES["merge"])
    live = comparison.live()
    assert live
    wanted = config(a="2", b="<&>", c=">")
    reply = comparison.send("PATCH", comparison.name, "kubectl", wanted, content=PATCH_TYPES["apply"])
    applier = Applier(
        manager="kubectl", force=False, now="2026-01-01T00:00:00Z", schema=world.schema, api_version="v1",
        kind="ConfigMap",
    )  # fmt: skip
    try:
        ours = server_side_apply(live, wanted, applier)
    except ApiError as refusal:
        comparison.expect_refusal(reply, refusal, exact=True)
        return
    assert reply.status == 200, reply.body
    comparison.expect(substance(reply.json), substance(ours))
    comparison.expect(untimed(reply.json["metadata"]["managedFields"]), untimed(ours["metadata"]["managedFields"]))


def test_too_many_managers_are_thrown_together_alike(cluster_with_widgets: Cluster) -> None:
    """Each adds a key of its own, so that all of them keep something; in one second, so that names decide."""
    comparison = Comparison(cluster_with_widgets, WORLDS["configmap"], 2000)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": comparison.name}, "data": {"a": "1"}}
    comparison.send("POST", "", "m5", manifest)
    for number in (11, 3, 14, 1, 9, 2, 6, 8, 10, 12, 4, 7, 13, 15, 0):
        live = comparison.live()
        assert live
        patch = {"data": {f"k{number}": "1"}}
        reply = comparison.send("PATCH", comparison.name, f"m{number}", patch, content=PATCH_TYPES["merge"])
        comparison.check_tracking(live, merge_patch(live, patch), f"m{number}", theirs=reply.json)
    final = comparison.live()
    assert final
    assert "ancient-changes" in {entry["manager"] for entry in final["metadata"]["managedFields"]}
