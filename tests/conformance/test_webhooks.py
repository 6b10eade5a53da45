"""Admission webhooks: who is asked, with what, and what their answers do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.objects import MERGE, config_map, core
from tests.harness import Cluster
from tests.harness.webhook import WebhookServer, allow, deny, patch

Json = Any
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"


class Hooks:
    """Webhook configurations for one namespace, each of one webhook, removed at the end."""

    def __init__(self, cluster: Cluster, namespace: str, server: WebhookServer) -> None:
        self.cluster, self.namespace, self.server = cluster, namespace, server
        self.made: list[str] = []

    def add(self, kind: str, verdict: Any, **more: Json) -> str:
        """Register a webhook (`mutating` or `validating`) and wait until it is asked; the path it is asked at."""
        path = f"/{kind}-{len(self.made)}"
        self.server.verdicts[path] = verdict
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]
        hook = {
            "name": f"hook{len(self.made)}.example.com",
            "clientConfig": self.server.client_config(path),
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 2,
            "rules": rules,
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
            **more,
        }
        collection = f"{REGISTRATION}/{kind}webhookconfigurations"
        name = f"{self.namespace}-{len(self.made)}"
        self.cluster.create(collection, {"metadata": {"name": name}, "webhooks": [hook]})
        self.made.append(f"{collection}/{name}")
        return path

    def ready(self) -> None:
        """Return once webhooks registered just now are asked: servers read configurations with a delay."""
        rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}]
        probes = [self.add(kind, allow, rules=rules) for kind in ("mutating", "validating")]
        deadline = time.monotonic() + 20
        while not all(self.server.asked(probe) for probe in probes):
            path = f"{core(self.namespace, 'secrets')}?dryRun=All"
            self.cluster.http("POST", path, {"metadata": {"name": "probe"}})
            assert time.monotonic() < deadline, "webhooks are not asked"
            time.sleep(0.05)
        for path in (self.made.pop(), self.made.pop()):
            self.cluster.http("DELETE", path)
        self.server.reviews.clear()


@pytest.fixture
def hooks(cluster: Cluster, namespace: str) -> Iterator[Hooks]:
    with WebhookServer() as server:
        made = Hooks(cluster, namespace, server)
        yield made
        for path in made.made:
            cluster.http("DELETE", path)


def create(hooks: Hooks, name: str = "a", **data: str) -> Any:
    return hooks.cluster.http("POST", core(hooks.namespace, "configmaps"), {"metadata": {"name": name}, "data": data})


def test_a_validating_webhook_may_refuse(hooks: Hooks) -> None:
    hooks.add("validating", deny("not today"))
    hooks.ready()
    reply = create(hooks)
    assert reply.status == 403
    assert 'admission webhook "hook0.example.com" denied the request: not today' in reply.json["message"]
    assert hooks.cluster.http("GET", core(hooks.namespace, "configmaps/a")).status == 404


def test_the_code_of_a_refusal_is_the_webhooks(hooks: Hooks) -> None:
    hooks.add("validating", deny("teapot", 418))
    hooks.ready()
    assert create(hooks).status == 418


def test_a_review_says_everything_about_the_request(hooks: Hooks) -> None:
    path = hooks.add("validating", allow)
    hooks.ready()
    create(hooks, x="1")
    hooks.cluster.http("PATCH", core(hooks.namespace, "configmaps/a"), {"data": {"x": "2"}}, MERGE)
    hooks.cluster.http("DELETE", core(hooks.namespace, "configmaps/a"))
    made, changed, deleted = hooks.server.asked(path)
    assert [one["operation"] for one in (made, changed, deleted)] == ["CREATE", "UPDATE", "DELETE"]
    assert made["kind"] == {"group": "", "version": "v1", "kind": "ConfigMap"}
    assert made["resource"] == {"group": "", "version": "v1", "resource": "configmaps"}
    assert (made["namespace"], made["name"], made["dryRun"]) == (hooks.namespace, "a", False)
    assert made["userInfo"]["groups"] == ["system:masters", "system:authenticated"]
    assert made["oldObject"] is None
    assert (changed["oldObject"]["data"], changed["object"]["data"]) == ({"x": "1"}, {"x": "2"})
    assert deleted["object"] is None
    assert deleted["oldObject"]["data"] == {"x": "2"}


def test_a_mutating_webhook_changes_the_object(hooks: Hooks) -> None:
    hooks.add("mutating", patch({"op": "add", "path": "/metadata/labels", "value": {"stamped": "yes"}}))
    hooks.ready()
    assert create(hooks).json["metadata"]["labels"] == {"stamped": "yes"}


def test_mutation_comes_before_validation(hooks: Hooks) -> None:
    seen = hooks.add("validating", allow)
    hooks.add("mutating", patch({"op": "add", "path": "/data/by", "value": "webhook"}))
    hooks.ready()
    create(hooks, x="1")
    assert hooks.server.asked(seen)[-1]["object"]["data"] == {"x": "1", "by": "webhook"}


def test_an_earlier_webhook_is_asked_again_when_a_later_one_changed_the_object(hooks: Hooks) -> None:
    first = hooks.add("mutating", allow, reinvocationPolicy="IfNeeded")
    once = hooks.add("mutating", patch({"op": "add", "path": "/data/late", "value": "1"}))
    hooks.ready()
    create(hooks, x="1")
    assert len(hooks.server.asked(first)) == 2
    assert len(hooks.server.asked(once)) == 1


def test_what_a_webhook_makes_invalid_is_refused(hooks: Hooks) -> None:
    hooks.add("mutating", patch({"op": "add", "path": "/metadata/labels", "value": {"bad key!": "x"}}))
    hooks.ready()
    assert create(hooks).status == 422


@pytest.mark.parametrize(("policy", "status"), [("Ignore", 201), ("Fail", 500)])
def test_an_unreachable_webhook_fails_or_is_ignored(hooks: Hooks, policy: str, status: int) -> None:
    nowhere = {"url": "https://127.0.0.1:1/none"}
    hooks.add("validating", allow, clientConfig=nowhere, failurePolicy=policy)
    deadline = time.monotonic() + 20
    while (reply := create(hooks, f"a-{time.monotonic_ns()}")).status != status and time.monotonic() < deadline:
        time.sleep(0.1)
    assert reply.status == status
    if status == 500:
        assert reply.reason == "InternalError"
        assert 'failed calling webhook "hook0.example.com"' in reply.json["message"]


def test_a_slow_webhook_runs_into_its_timeout(hooks: Hooks) -> None:
    def slow(_: Json) -> Json:
        time.sleep(3)
        return {"allowed": True}

    hooks.add("validating", slow, timeoutSeconds=1, failurePolicy="Ignore")
    hooks.ready()
    started = time.monotonic()
    assert create(hooks).status == 201
    assert time.monotonic() - started < 2.5


def test_selectors_and_conditions_decide_who_is_asked(hooks: Hooks) -> None:
    chosen = hooks.add("validating", deny("chosen"), objectSelector={"matchLabels": {"ask": "me"}})
    conditions = [{"name": "loud", "expression": "has(object.data) && 'loud' in object.data"}]
    loud = hooks.add("validating", deny("loud"), matchConditions=conditions)
    other = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}]
    removal = hooks.add("validating", deny("stays"), rules=other)
    hooks.ready()
    assert create(hooks, "plain").status == 201
    assert not any(hooks.server.asked(path) for path in (chosen, loud, removal))
    assert "loud" in create(hooks, "b", loud="1").json["message"]
    labelled = config_map("c", labels={"ask": "me"})
    reply = hooks.cluster.http("POST", core(hooks.namespace, "configmaps"), labelled)
    assert "chosen" in reply.json["message"]
    assert hooks.cluster.http("DELETE", core(hooks.namespace, "configmaps/plain")).status == 403


def test_webhooks_with_side_effects_refuse_dry_runs(hooks: Hooks) -> None:
    """One that promises none is asked and told; one that may have some makes the dry run fail."""
    told = hooks.add("validating", allow)
    hooks.ready()
    path = f"{core(hooks.namespace, 'configmaps')}?dryRun=All"
    assert hooks.cluster.http("POST", path, config_map("a")).status == 201
    assert hooks.server.asked(told)[-1]["dryRun"] is True
    hooks.add("validating", allow, sideEffects="NoneOnDryRun")
    hooks.ready()
    assert hooks.cluster.http("POST", path, config_map("a")).status == 201


def two_versions(hooks: Hooks) -> tuple[str, str]:
    """A custom kind that is served in two versions; its group and its definition's path."""
    group = f"{hooks.namespace}.example.com"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in ("v1", "v2")]
    names = {"plural": "gears", "singular": "gear", "kind": "Gear", "listKind": "GearList"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": versions}
    collection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    hooks.cluster.create(collection, {"metadata": {"name": f"gears.{group}"}, "spec": spec})
    hooks.made.append(f"{collection}/gears.{group}")
    for name in ("v1", "v2"):
        path = f"/apis/{group}/{name}/namespaces/{hooks.namespace}/gears"
        hooks.cluster.eventually(path, lambda reply: reply.status == 200)
    return group, f"/apis/{group}/v2/namespaces/{hooks.namespace}/gears"


def test_other_versions_of_what_a_webhook_asked_for_are_its_business(hooks: Hooks) -> None:
    """matchPolicy Equivalent: told in the version it knows, with the request's own version beside it."""
    group, gears = two_versions(hooks)
    rules = [{"apiGroups": [group], "apiVersions": ["v1"], "operations": ["*"], "resources": ["gears"]}]
    told = hooks.add("validating", allow, rules=rules)
    exact = hooks.add("validating", deny("exact"), rules=rules, matchPolicy="Exact")
    stamped = hooks.add("mutating", patch({"op": "add", "path": "/spec/stamped", "value": True}), rules=rules)
    hooks.ready()
    hooks.cluster.eventually(f"{gears}/none", lambda _: offered(hooks, gears, group, told))
    hooks.server.reviews.clear()
    body = {"apiVersion": f"{group}/v2", "kind": "Gear", "metadata": {"name": "a"}, "spec": {"teeth": 9}}
    made = hooks.cluster.create(gears, body)
    assert (made["apiVersion"], made["spec"]) == (f"{group}/v2", {"teeth": 9, "stamped": True})
    review = hooks.server.asked(told)[0]
    assert review["kind"] == {"group": group, "version": "v1", "kind": "Gear"}
    assert review["resource"] == {"group": group, "version": "v1", "resource": "gears"}
    assert review["requestKind"] == {"group": group, "version": "v2", "kind": "Gear"}
    assert review["requestResource"] == {"group": group, "version": "v2", "resource": "gears"}
    assert review["object"]["apiVersion"] == f"{group}/v1"
    assert (len(hooks.server.asked(stamped)), hooks.server.asked(exact)) == (1, [])


def offered(hooks: Hooks, gears: str, group: str, path: str) -> bool:
    """Whether the webhook hears of a write that is not made: a new kind is known to a server a moment later."""
    body = {"apiVersion": f"{group}/v2", "kind": "Gear", "metadata": {"name": "probe"}, "spec": {}}
    hooks.cluster.http("POST", f"{gears}?dryRun=All", body)
    return bool(hooks.server.asked(path))
