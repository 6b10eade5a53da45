"""Stories of Jobs and Deployments, played on any control plane. Each returns what it looks like in the end."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from tests.local.controllers.stage import CONTAINERS, Stage, by_index, fails, finished, has, runs, succeeds, waits
from tidegate.kube import resources as r
from tidegate.kube.wire import Object

Script = Callable[[Stage], Awaitable[Any]]

_TIMES = {"lastProbeTime", "lastTransitionTime", "lastUpdateTime", "startTime", "completionTime"}


def bare(value: Any) -> Any:
    """Without times, and with generated names made alike; that there is a time still shows."""
    if isinstance(value, dict):
        return {key: "a time" if key in _TIMES else bare(each) for key, each in value.items() if each != {}}
    if isinstance(value, list):
        plain = [bare(each) for each in value]
        return sorted(plain, key=lambda each: each["type"]) if plain and "type" in plain[0] else plain
    if isinstance(value, str):
        value = re.sub(r"stage-\w+/([a-z-]+?)-(\d-)?\w{5}\b", r"stage/\1-\2*", value)
        return re.sub(r'(ReplicaSet|replica set) "([a-z]+)-\w+"', r'\1 "\2-*"', value)
    return value


def _rule(action: str, *codes: int) -> Object:
    return {"action": action, "onExitCodes": {"operator": "In", "values": list(codes)}}


async def _end(stage: Stage, name: str, fate: Any, **spec: Any) -> Object:
    await stage.job(name, **spec)
    job = await stage.play(r.JOBS, name, fate, finished)
    return bare(job["status"])


async def plain(stage: Stage) -> Any:
    return await _end(stage, "plain", succeeds, completions=3, parallelism=2)


async def one_failure_too_many(stage: Stage) -> Any:
    return await _end(stage, "toomany", fails(), completions=1, backoffLimit=0)


async def work_queue(stage: Stage) -> Any:
    return await _end(stage, "queue", succeeds, parallelism=2)


async def indexed(stage: Stage) -> Any:
    return await _end(stage, "indexed", succeeds, completions=4, parallelism=3, completionMode="Indexed")


async def failed_indexes(stage: Stage) -> Any:
    spec = {"completions": 4, "parallelism": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 0}
    return await _end(stage, "failedindexes", by_index({1: fails(), 2: fails()}), **spec)


async def too_many_failed_indexes(stage: Stage) -> Any:
    spec = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0}
    fates = by_index({0: waits, 1: fails(), 2: fails()})
    return await _end(stage, "maxfailed", fates, maxFailedIndexes=1, **spec)


async def index_retried(stage: Stage) -> Any:
    """The second pod of the index succeeds, after the back-off."""
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1}

    def fate(pod: Object) -> Any:
        again = pod["metadata"]["annotations"].get("batch.kubernetes.io/job-index-failure-count") == "1"
        return succeeds(pod) if again else by_index({1: fails()})(pod)

    return await _end(stage, "retried", fate, **spec)


async def fail_job_rule(stage: Stage) -> Any:
    spec = {"completions": 1, "backoffLimit": 5, "podFailurePolicy": {"rules": [_rule("FailJob", 42)]}}
    return await _end(stage, "failjob", fails(42), **spec)


async def fail_index_rule(stage: Stage) -> Any:
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 3}
    policy = {"rules": [_rule("FailIndex", 7)]}
    return await _end(stage, "failindex", by_index({1: fails(7)}), podFailurePolicy=policy, **spec)


async def count_rule(stage: Stage) -> Any:
    policy = {"rules": [_rule("Count", 3)]}
    return await _end(stage, "count", fails(3), completions=1, backoffLimit=0, podFailurePolicy=policy)


async def success_policy(stage: Stage) -> Any:
    policy = {"rules": [{"succeededIndexes": "0,2", "succeededCount": 2}]}
    spec = {"completions": 4, "parallelism": 4, "completionMode": "Indexed", "successPolicy": policy}
    return await _end(stage, "successpolicy", by_index({1: runs, 3: waits}), **spec)


async def deadline(stage: Stage) -> Any:
    return await _end(stage, "deadline", runs, completions=1, activeDeadlineSeconds=2)


async def suspended_then_resumed(stage: Stage) -> Any:
    await stage.job("suspended", completions=2, parallelism=2, suspend=True)
    first = await stage.play(r.JOBS, "suspended", waits, has("Suspended", "JobSuspended"))
    await stage.patch(r.JOBS, "suspended", {"spec": {"suspend": False}})
    running = await stage.play(r.JOBS, "suspended", runs, lambda job: job["status"].get("ready") == 2)
    await stage.patch(r.JOBS, "suspended", {"spec": {"suspend": True}})

    def stopped(job: Object) -> bool:
        return (
            has("Suspended", "JobSuspended")(job)
            and not job["status"].get("active")
            and not job["status"]["terminating"]
        )

    again = await stage.play(r.JOBS, "suspended", waits, stopped)
    await stage.patch(r.JOBS, "suspended", {"spec": {"suspend": False}})
    last = await stage.play(r.JOBS, "suspended", succeeds, finished)
    return [bare(job["status"]) for job in (first, running, again, last)]


async def parallelism_changed(stage: Stage) -> Any:
    await stage.job("parallel", completions=6, parallelism=1)
    seen = []
    for parallelism in (4, 2, 0):
        await stage.patch(r.JOBS, "parallel", {"spec": {"parallelism": parallelism}})

        def settled(job: Object, wanted: int = parallelism) -> bool:
            status = job["status"]
            return (status.get("active", 0), status.get("ready", 0), status.get("terminating")) == (wanted, wanted, 0)

        seen.append(bare((await stage.play(r.JOBS, "parallel", runs, settled))["status"]))
    return seen


async def managed_by_another(stage: Stage) -> Any:
    await stage.job("foreign", managedBy="example.com/other")
    await stage.job("witness")
    await stage.play(r.JOBS, "witness", succeeds, finished)
    return (await stage.get(r.JOBS, "foreign")).get("status")


def rolled_out(deployment: Object) -> bool:
    status = deployment["status"]
    seen = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    wanted = deployment["spec"]["replicas"]
    counts = {status.get(key, 0) for key in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")}
    gone = status.get("terminatingReplicas", 0) == 0
    return seen and gone and counts == {wanted} and has("Progressing", "NewReplicaSetAvailable")(deployment)


async def _sets(stage: Stage, name: str) -> list[Object]:
    sets = await stage.list(r.REPLICASETS, f"app={name}")
    sets.sort(key=lambda each: int(each["metadata"]["annotations"]["deployment.kubernetes.io/revision"]))
    shown = []
    for each in sets:
        annotations = {key: value for key, value in each["metadata"]["annotations"].items() if "kubernetes.io" in key}
        # How many steps a rollout took depends on how pods happened to become ready; only where it ended counts.
        status = {key: value for key, value in each["status"].items() if key != "observedGeneration"}
        shown.append([annotations, each["spec"]["replicas"], bare(status)])
    return shown


def _image(image: str) -> Object:
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}}


async def rolling_update_and_back(stage: Stage) -> Any:
    await stage.deployment("rolling", replicas=4, revisionHistoryLimit=2)
    story = [await stage.play(r.DEPLOYMENTS, "rolling", runs, rolled_out)]
    for image in ("second", "third", "host", "fourth"):
        await stage.patch(r.DEPLOYMENTS, "rolling", _image(image))
        story.append(await stage.play(r.DEPLOYMENTS, "rolling", runs, rolled_out))

    async def tidied() -> bool:
        return len(await stage.list(r.REPLICASETS, "app=rolling")) == 3

    await stage.until(tidied)
    shown = [[bare(each["status"]), each["metadata"]["annotations"]] for each in story]
    return shown, await _sets(stage, "rolling")


async def recreated(stage: Stage) -> Any:
    await stage.deployment("recreated", replicas=2, strategy={"type": "Recreate"})
    await stage.play(r.DEPLOYMENTS, "recreated", runs, rolled_out)
    await stage.patch(r.DEPLOYMENTS, "recreated", _image("second"))
    last = await stage.play(r.DEPLOYMENTS, "recreated", runs, rolled_out)
    return bare(last["status"]), await _sets(stage, "recreated")


async def paused_scaled_resumed(stage: Stage) -> Any:
    await stage.deployment("paused", replicas=2)
    await stage.play(r.DEPLOYMENTS, "paused", runs, rolled_out)
    await stage.patch(r.DEPLOYMENTS, "paused", {"spec": {"paused": True, "replicas": 4}})

    def scaled(deployment: Object) -> bool:
        return deployment["status"].get("availableReplicas") == 4

    first = await stage.play(r.DEPLOYMENTS, "paused", runs, scaled)
    await stage.patch(r.DEPLOYMENTS, "paused", {"spec": {"paused": False}})
    last = await stage.play(r.DEPLOYMENTS, "paused", runs, rolled_out)
    return [bare(each["status"]) for each in (first, last)], await _sets(stage, "paused")


async def stuck(stage: Stage) -> Any:
    await stage.deployment("stuck", replicas=2, progressDeadlineSeconds=2, minReadySeconds=1)
    last = await stage.play(r.DEPLOYMENTS, "stuck", waits, has("Progressing", "ProgressDeadlineExceeded"))
    return bare(last["status"])


async def scaled_amid_rollout(stage: Stage) -> Any:
    """New pods never become ready: the rollout stands, and scaling shares out what is there."""
    await stage.deployment("amid", replicas=10)
    await stage.play(r.DEPLOYMENTS, "amid", runs, rolled_out)
    await stage.patch(r.DEPLOYMENTS, "amid", _image("second"))

    def stands(updated: int, replicas: int) -> Callable[[Object], bool]:
        def holds(deployment: Object) -> bool:
            status = deployment["status"]
            counts = (status.get("updatedReplicas"), status.get("replicas"), status.get("terminatingReplicas"))
            return counts == (updated, replicas, 0)

        return holds

    await stage.play(r.DEPLOYMENTS, "amid", waits, stands(5, 13))
    await stage.patch(r.DEPLOYMENTS, "amid", {"spec": {"replicas": 20}})
    last = await stage.play(r.DEPLOYMENTS, "amid", waits, lambda each: each["status"].get("replicas") == 25)
    return bare(last["status"]), await _sets(stage, "amid")


async def quota_counts(stage: Stage) -> Any:
    """Pods (one of them ended), services, and a kind that is counted by its name."""
    hard = {"pods": "10", "requests.cpu": "4", "limits.memory": "4Gi", "count/pods": "20", "services": "5"}
    hard |= {"services.nodeports": "3", "count/deployments.apps": "9", "count/configmaps": "50"}
    await stage.create(r.RESOURCEQUOTAS, "q", spec={"hard": hard})
    await stage.create(r.RESOURCEQUOTAS, "best", spec={"hard": {"pods": "5"}, "scopes": ["BestEffort"]})
    await stage.until(lambda: _used(stage, "q"))
    await stage.until(lambda: _used(stage, "best"))
    resources = {"requests": {"cpu": "250m"}, "limits": {"memory": "1Gi"}}
    container = {"name": "main", "image": "host", "resources": resources}
    for name in ("one", "two"):
        await stage.create(r.PODS, name, spec={"containers": [container]})
    port = {"port": 80}
    await stage.create(r.SERVICES, "s", spec={"type": "NodePort", "ports": [port], "selector": {"app": "none"}})
    await stage.create(r.DEPLOYMENTS, "none", spec=_empty("none"))

    async def counted() -> Any:
        used = await _used(stage, "q")
        return used if used["pods"] == "2" and used["count/deployments.apps"] == "1" else None

    first = await stage.until(counted)
    ended = {"status": {"phase": "Succeeded"}}
    await stage.client.patch(r.PODS, "one", ended, stage.namespace, subresource="status")
    await stage.client.delete(r.SERVICES, "s", stage.namespace)

    async def lowered() -> Any:
        used = await _used(stage, "q")
        return used if used["pods"] == "1" and used["services"] == "0" else None

    return first, await stage.until(lowered), await _used(stage, "best")


async def _used(stage: Stage, name: str) -> Any:
    return (await stage.get(r.RESOURCEQUOTAS, name)).get("status", {}).get("used")


def _empty(name: str) -> Object:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "host"}]}}
    return {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": template}


async def endpoints_follow_pods(stage: Stage) -> Any:
    await stage.client.create(r.NODES, {"metadata": {"name": stage.namespace}})
    ports = [{"name": "web", "port": 80, "targetPort": "http"}, {"name": "raw", "port": 81, "targetPort": 9}]
    await stage.create(r.SERVICES, "web", spec={"selector": {"app": "web"}, "ports": ports})
    await stage.create(r.SERVICES, "flat", spec={"selector": {"app": "web"}, "clusterIP": "None"})
    for at in (1, 2):
        container = {"name": "main", "image": "host", "ports": [{"name": "http", "containerPort": 8080}]}
        body = {"metadata": {"name": f"web{at}", "labels": {"app": "web"}}}
        spec = {"containers": [container], "hostname": f"h{at}", "subdomain": "flat", "nodeName": stage.namespace}
        await stage.client.create(r.PODS, {**body, "spec": spec}, stage.namespace)
        ready = [{"type": "Ready", "status": "True" if at == 1 else "False"}]
        address = {"podIP": f"10.9.0.{at}", "podIPs": [{"ip": f"10.9.0.{at}"}]}
        status = {"status": {"phase": "Running", "conditions": ready, **address}}
        await stage.client.patch(r.PODS, f"web{at}", status, stage.namespace, subresource="status")
    return [await _shown_endpoints(stage, "web"), await _shown_endpoints(stage, "flat")]


async def _shown_endpoints(stage: Stage, name: str) -> Any:
    async def both() -> Any:
        shown = await stage.get(r.ENDPOINTS, name) if await stage.exists(r.ENDPOINTS, name) else {}
        slices = await stage.list(r.ENDPOINTSLICES, f"kubernetes.io/service-name={name}")
        full = [each for each in slices if len(each.get("endpoints") or ()) == 2]
        subsets = shown.get("subsets") or [{}]
        complete = subsets[0].get("addresses") and subsets[0].get("notReadyAddresses")
        return (shown, full[0]) if full and complete else None

    endpoints, piece = await stage.until(both)
    parts = [endpoints["metadata"].get("labels"), endpoints["subsets"], piece["metadata"]["labels"]]
    parts += [sorted(piece["endpoints"], key=lambda each: each["addresses"]), piece.get("ports"), piece["addressType"]]
    return _without_identities(parts)


def _without_identities(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_identities(each) for key, each in value.items() if key not in _IDENTITIES}
    if isinstance(value, list):
        plain = [_without_identities(each) for each in value]
        return sorted(plain, key=lambda each: each["port"]) if plain and _is_port(plain[0]) else plain
    return value


_IDENTITIES = {"uid", "namespace", "nodeName"}


def _is_port(value: Any) -> bool:
    return isinstance(value, dict) and "port" in value


async def replicas_adopted_and_released(stage: Stage) -> Any:
    """An orphan that matches is taken in, one whose label changes is let go and replaced; the oldest way as well."""
    labels = {"name": "orphan", "labels": {"app": "rs"}}
    await stage.client.create(r.PODS, {"metadata": labels, "spec": {"containers": CONTAINERS}}, stage.namespace)
    await stage.create(r.REPLICASETS, "rs", spec=_empty("rs") | {"replicas": 2})

    async def complete() -> Any:
        pods = await stage.list(r.PODS, "app=rs")
        owned = [each for each in pods if each["metadata"].get("ownerReferences")]
        return pods if len(pods) == len(owned) == 2 else None

    await stage.until(complete)
    await stage.patch(r.PODS, "orphan", {"metadata": {"labels": {"app": "free"}}})

    async def released() -> bool:
        return not (await stage.get(r.PODS, "orphan"))["metadata"].get("ownerReferences")

    await stage.until(released)
    await stage.until(complete)
    spec = _empty("rc")
    await stage.create(r.REPLICATIONCONTROLLERS, "rc", spec=spec | {"replicas": 1, "selector": {"app": "rc"}})
    last = await stage.play(r.REPLICATIONCONTROLLERS, "rc", runs, lambda each: each["status"].get("readyReplicas") == 1)
    sets = await stage.play(r.REPLICASETS, "rs", runs, lambda each: each["status"].get("availableReplicas") == 2)
    return bare(last["status"]), bare(sets["status"])


JOB_SCRIPTS: list[Script] = [
    plain,
    one_failure_too_many,
    work_queue,
    indexed,
    failed_indexes,
    too_many_failed_indexes,
    index_retried,
    fail_job_rule,
    fail_index_rule,
    count_rule,
    success_policy,
    deadline,
    suspended_then_resumed,
    parallelism_changed,
    managed_by_another,
]
DEPLOYMENT_SCRIPTS: list[Script] = [
    rolling_update_and_back,
    recreated,
    paused_scaled_resumed,
    stuck,
    scaled_amid_rollout,
]
OTHER_SCRIPTS: list[Script] = [endpoints_follow_pods, replicas_adopted_and_released]
QUOTA_SCRIPTS: list[Script] = [quota_counts]
