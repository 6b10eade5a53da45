"""Objects in many states, to be shown in tables: manifests with the status each is to have."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

LONG_AGO = "2024-01-01T00:00:00Z"
THEN = "2026-01-01T00:00:00Z"


def container(name: str = "main", **more: Any) -> Object:
    return {"name": name, "image": f"{name}:1", **more}


def status_of(name: str = "main", ready: bool = False, restarts: int = 0, **more: Any) -> Object:
    state = {"name": name, "image": "", "imageID": "", "ready": ready, "restartCount": restarts, "lastState": {}}
    return state | more


def running(**more: Any) -> Object:
    return status_of(ready=True, state={"running": {"startedAt": THEN}}, **more)


def ended(code: int = 0, **more: Any) -> Object:
    return {"terminated": {"exitCode": code, "startedAt": THEN, "finishedAt": THEN, **more}}


def waiting(reason: str) -> Object:
    return {"waiting": {"reason": reason}}


def condition(kind: str, status: str = "True", reason: str = "") -> Object:
    return {"type": kind, "status": status, "reason": reason}


_READY = [condition("Initialized"), condition("Ready"), condition("ContainersReady")]
_LAST = {"lastState": ended(1, reason="Error")}

POD_STATUSES: dict[str, Object] = {
    "new": {},
    "pending": {"phase": "Pending"},
    "running": {"phase": "Running", "conditions": _READY, "containerStatuses": [running()]},
    "addressed": {"phase": "Running", "podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}]},
    "restarted": {"phase": "Running", "containerStatuses": [running(restarts=3, **_LAST)]},
    "restarted-unknown-when": {"phase": "Running", "containerStatuses": [running(restarts=3)]},
    "crash-loop": {"phase": "Running", "containerStatuses": [status_of(state=waiting("CrashLoopBackOff"), restarts=5)]},
    "image-pull": {"phase": "Pending", "containerStatuses": [status_of(state=waiting("ErrImagePull"))]},
    "creating": {"phase": "Pending", "containerStatuses": [status_of(state=waiting("ContainerCreating"))]},
    "completed": {"phase": "Succeeded", "containerStatuses": [status_of(state=ended(reason="Completed"))]},
    "failed": {"phase": "Failed", "containerStatuses": [status_of(state=ended(1, reason="Error"))]},
    "exit-code": {"phase": "Failed", "containerStatuses": [status_of(state=ended(7))]},
    "signal": {"phase": "Failed", "containerStatuses": [status_of(state=ended(137, signal=9))]},
    "oom": {"phase": "Failed", "containerStatuses": [status_of(state=ended(137, reason="OOMKilled"))]},
    "evicted": {"phase": "Failed", "reason": "Evicted"},
    "node-lost": {"phase": "Running", "reason": "NodeLost"},
    "gated": {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "SchedulingGated")]},
    "unschedulable": {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable")]},
    "not-ready": {"phase": "Running", "containerStatuses": [status_of(state={"running": {"startedAt": THEN}})]},
}
TWO_CONTAINER_STATUSES: dict[str, Object] = {
    "half": {
        "phase": "Running",
        "containerStatuses": [running(), status_of("side", state=ended(reason="Completed"))],
    },
    "half-ready": {
        "phase": "Running",
        "conditions": _READY,
        "containerStatuses": [status_of(state=ended(reason="Completed")), running(name="side")],
    },
    "half-failed": {
        "phase": "Running",
        "containerStatuses": [
            status_of(state=ended(reason="Completed")),
            status_of("side", state=ended(3, reason="Error")),
        ],
    },
}
INIT_STATUSES: dict[str, Object] = {
    "init-none": {"phase": "Pending"},
    "init-first": {"phase": "Pending", "initContainerStatuses": [status_of("one", state=waiting("PodInitializing"))]},
    "init-second": {
        "phase": "Pending",
        "initContainerStatuses": [
            status_of("one", state=ended(), restarts=2, **_LAST),
            status_of("two", state={"running": {"startedAt": THEN}}),
        ],
    },
    "init-crash": {"phase": "Pending", "initContainerStatuses": [status_of("one", state=waiting("CrashLoopBackOff"))]},
    "init-failed": {"phase": "Failed", "initContainerStatuses": [status_of("one", state=ended(1, reason="Error"))]},
    "init-exit-code": {"phase": "Failed", "initContainerStatuses": [status_of("one", state=ended(3))]},
    "init-signal": {"phase": "Failed", "initContainerStatuses": [status_of("one", state=ended(3, signal=9))]},
    "init-done": {
        "phase": "Running",
        "conditions": _READY,
        "initContainerStatuses": [
            status_of("one", state=ended(), restarts=4, **_LAST),
            status_of("two", state=ended()),
            status_of("proxy", state={"running": {"startedAt": THEN}}, started=True, ready=True, restarts=1, **_LAST),
        ],
        "containerStatuses": [running()],
    },
    "init-sidecar-waits": {
        "phase": "Pending",
        "initContainerStatuses": [
            status_of("one", state=ended()),
            status_of("two", state=ended()),
            status_of("proxy", state={"running": {"startedAt": THEN}}, started=False, restarts=2),
        ],
    },
}


def named(version: str, kind: str, name: str, **more: Any) -> Object:
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def pod(name: str, status: Object, *, init: bool = False, two: bool = False, **spec: Any) -> Object:
    spec["containers"] = [container(), container("side")] if two else [container()]
    if init:
        sidecar = container("proxy", restartPolicy="Always")
        spec["initContainers"] = [container("one"), container("two"), sidecar]
    return named("v1", "Pod", name, spec=spec, status=status)


_SELECTOR = {"matchLabels": {"app": "x", "a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}
_TEMPLATE = {
    "metadata": {"labels": {"app": "x", "a": "1", "b": "2"}},
    "spec": {"containers": [container(), container("side")], "nodeSelector": {"disk": "fast"}},
}
_JOB_TEMPLATE = {"spec": {"containers": [container()], "restartPolicy": "Never"}}
_WORKLOAD = {"selector": _SELECTOR, "template": _TEMPLATE}


def job(name: str, status: Object, **spec: Any) -> Object:
    return named("batch/v1", "Job", name, spec={"template": _JOB_TEMPLATE, **spec}, status=status)


def _jobs() -> list[Object]:
    done = {"startTime": LONG_AGO, "completionTime": "2024-01-01T01:02:03Z", "succeeded": 1, "conditions": []}
    finished = [condition("SuccessCriteriaMet"), condition("Complete")]
    failed = [condition("FailureTarget"), condition("Failed")]
    return [
        job("new", {}),
        job("wide", {}, parallelism=3),
        job("counted", {"startTime": LONG_AGO, "active": 1}, completions=3),
        job("suspended", {"conditions": [condition("Suspended")]}, suspend=True),
        job("complete", done | {"conditions": finished}),
        job("failed", {"startTime": LONG_AGO, "failed": 1, "conditions": failed}),
    ]


def _services() -> list[Object]:
    port = {"port": 80}
    return [
        named("v1", "Service", "plain", spec={"ports": [port], "selector": {"app": "x"}}),
        named("v1", "Service", "headless", spec={"clusterIP": "None"}),
        named("v1", "Service", "node-port", spec={"type": "NodePort", "ports": [port | {"protocol": "UDP"}]}),
        named("v1", "Service", "balanced", spec={"type": "LoadBalancer", "ports": [port]}),
        named(
            *("v1", "Service", "balanced-ready"),
            spec={"type": "LoadBalancer", "ports": [port], "externalIPs": ["9.9.9.9"]},
            status={"loadBalancer": {"ingress": [{"ip": "8.8.8.8"}, {"hostname": "very-long-name.example.com"}]}},
        ),
        named("v1", "Service", "external", spec={"type": "ExternalName", "externalName": "a.example.com"}),
        named("v1", "Service", "external-ips", spec={"ports": [port], "externalIPs": ["1.1.1.1", "2.2.2.2"]}),
    ]


def _endpoints() -> list[Object]:
    addresses = [{"ip": f"10.1.0.{number}"} for number in range(1, 6)]
    slice_endpoints = [{"addresses": [address["ip"]]} for address in addresses]
    version = "discovery.k8s.io/v1"
    return [
        named("v1", "Endpoints", "none"),
        named("v1", "Endpoints", "one", subsets=[{"addresses": addresses[:1], "ports": [{"port": 80}]}]),
        named("v1", "Endpoints", "many", subsets=[{"addresses": addresses, "ports": [{"port": 80}]}]),
        named("v1", "Endpoints", "portless", subsets=[{"addresses": addresses[:2]}]),
        named(version, "EndpointSlice", "empty", addressType="IPv4", endpoints=[]),
        named(
            *(version, "EndpointSlice", "full"),
            addressType="IPv4",
            endpoints=slice_endpoints,
            ports=[{"port": number, "name": f"p{number}"} for number in range(80, 85)],
        ),
        named(version, "EndpointSlice", "any-port", addressType="IPv4", endpoints=[], ports=[{"name": "any"}]),
    ]


def _nodes() -> list[Object]:
    about = {"kubeletVersion": "v1", "osImage": "Linux", "kernelVersion": "6", "architecture": "amd64"}
    empty = ("machineID", "systemUUID", "bootID", "containerRuntimeVersion", "kubeProxyVersion", "operatingSystem")
    addresses = [{"type": "InternalIP", "address": "1.1.1.1"}, {"type": "ExternalIP", "address": "2.2.2.2"}]
    ready = {"conditions": [condition("Ready")], "nodeInfo": dict.fromkeys(empty, "") | about, "addresses": addresses}
    roles = {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "old"}
    return [
        named("v1", "Node", "bare"),
        named("v1", "Node", "ready", metadata={"labels": roles}, status=ready),
        named("v1", "Node", "down", status={"conditions": [condition("Ready", "Unknown")]}),
        named("v1", "Node", "cordoned", spec={"unschedulable": True}, status=ready),
    ]


def _workloads() -> list[Object]:
    counted = {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1}
    daemon = {"desiredNumberScheduled": 4, "currentNumberScheduled": 3, "numberReady": 2, "numberMisscheduled": 0}
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "u", "controller": True}
    stateful = {"serviceName": "s", **_WORKLOAD}
    cron = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": _JOB_TEMPLATE}}}
    return [
        named("apps/v1", "Deployment", "new", spec=_WORKLOAD),
        named(
            "apps/v1", "Deployment", "grown", spec=_WORKLOAD | {"replicas": 3}, status=counted | {"updatedReplicas": 2}
        ),
        named("apps/v1", "ReplicaSet", "set", spec=_WORKLOAD | {"replicas": 3}, status=counted),
        named("apps/v1", "StatefulSet", "set", spec=stateful, status=counted),
        named("apps/v1", "DaemonSet", "set", spec=_WORKLOAD, status=daemon),
        named("apps/v1", "ControllerRevision", "owned", metadata={"ownerReferences": [owner]}, data={}, revision=3),
        named("apps/v1", "ControllerRevision", "free", data={}, revision=1),
        named(
            *("v1", "ReplicationController", "old"),
            spec={"selector": {"app": "x"}, "template": _TEMPLATE, "replicas": 2},
        ),
        named("v1", "PodTemplate", "template", template=_TEMPLATE),
        named("batch/v1", "CronJob", "plain", spec=cron),
        named(
            *("batch/v1", "CronJob", "busy"),
            spec=cron | {"timeZone": "Etc/UTC", "suspend": True},
            status={"lastScheduleTime": LONG_AGO, "active": [{"name": "j"}]},
        ),
        named("policy/v1", "PodDisruptionBudget", "min", spec={"minAvailable": "50%", "selector": {}}),
        named("policy/v1", "PodDisruptionBudget", "max", spec={"maxUnavailable": 1, "selector": {}}),
        *_autoscalers(),
    ]


def _autoscalers() -> list[Object]:
    version = "autoscaling/v2"
    target = {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}, "maxReplicas": 3}

    def resource(name: str, **wanted: Any) -> Object:
        return {"type": "Resource", "resource": {"name": name, "target": wanted}}

    by_share = resource("cpu", type="Utilization", averageUtilization=80)
    by_value = resource("memory", type="AverageValue", averageValue="1Gi")
    pods = {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}}}
    outside = {"type": "External", "external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "7"}}}
    seen = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 42, "averageValue": "1"}}}
    return [
        named(version, "HorizontalPodAutoscaler", "plain", spec=target),
        named(
            *(version, "HorizontalPodAutoscaler", "seen"),
            spec=target | {"metrics": [by_share], "minReplicas": 2},
            status={"currentMetrics": [seen], "currentReplicas": 2, "desiredReplicas": 2, "conditions": []},
        ),
        named(version, "HorizontalPodAutoscaler", "many", spec=target | {"metrics": [by_value, pods, outside]}),
        named(version, "HorizontalPodAutoscaler", "outside", spec=target | {"metrics": [outside]}),
    ]


def _rules() -> list[Object]:
    group = "rbac.authorization.k8s.io"
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "view"}
    subjects = [
        {"kind": "User", "name": "u", "apiGroup": group},
        {"kind": "Group", "name": "g", "apiGroup": group},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]
    hook: Object = {
        "name": "a.example.com",
        "clientConfig": {"url": "https://a.example.com"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    admission = "admissionregistration.k8s.io/v1"
    policy = {"validations": [{"expression": "true"}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
    rules = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}]}
    bound = {"policyName": "p", "validationActions": ["Deny"]}
    parameter = {"name": "c", "namespace": "n", "parameterNotFoundAction": "Deny"}
    return [
        named(f"{group}/v1", "RoleBinding", "bound", roleRef=role, subjects=subjects),
        named(f"{group}/v1", "ClusterRoleBinding", "bound", roleRef=role, subjects=subjects),
        named(f"{group}/v1", "Role", "reader", rules=[]),
        named(admission, "ValidatingWebhookConfiguration", "hooks", webhooks=[hook]),
        named(admission, "MutatingWebhookConfiguration", "hooks", webhooks=[]),
        named(admission, "ValidatingAdmissionPolicy", "policy", spec=policy | {"matchConstraints": rules}),
        named(admission, "ValidatingAdmissionPolicyBinding", "plain", spec=bound),
        named(admission, "ValidatingAdmissionPolicyBinding", "with", spec=bound | {"paramRef": parameter}),
    ]


def _storage() -> list[Object]:
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "hostPath": {"path": "/x"},
    }
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    bound = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    default = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    group = "storage.k8s.io/v1"
    return [
        named("v1", "PersistentVolume", "free", spec=volume),
        named(
            *("v1", "PersistentVolume", "claimed"),
            spec=volume | {"claimRef": {"namespace": "n", "name": "c"}, "storageClassName": "fast"},
            status={"phase": "Bound"},
        ),
        named("v1", "PersistentVolumeClaim", "waiting", spec=claim | {"storageClassName": "fast"}),
        named("v1", "PersistentVolumeClaim", "bound", spec=claim | {"volumeName": "v"}, status=bound),
        named(group, "StorageClass", "plain", provisioner="p"),
        named(group, "StorageClass", "default", metadata=default, provisioner="p", allowVolumeExpansion=True),
        named(group, "CSIDriver", "a.example.com", spec={"tokenRequests": [{"audience": "x"}]}),
        named(group, "CSINode", "ready", spec={"drivers": []}),
        named(
            *(group, "VolumeAttachment", "attached"),
            spec={"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
        ),
    ]


def _events() -> list[Object]:
    about = {"kind": "Pod", "name": "p", "namespace": "default", "fieldPath": "spec.containers{main}"}
    source = {"component": "agent", "host": "h"}
    old = {"firstTimestamp": LONG_AGO, "lastTimestamp": THEN, "count": 4}
    told = {"involvedObject": about, "reason": "Started", "message": " It started.\n", "type": "Normal"}
    series = {"count": 7, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}
    return [
        named("v1", "Event", "old", **told, **old, source=source),
        named("v1", "Event", "once", **told, firstTimestamp=THEN, lastTimestamp=THEN),
        named("v1", "Event", "bare", involvedObject={"namespace": "default"}),
        named(
            *("events.k8s.io/v1", "Event", "series"),
            regarding={"kind": "Node", "name": "n", "namespace": "default"},
            reason="R",
            note="n",
            type="Warning",
            action="Do",
            eventTime="2026-01-01T00:00:00.000000Z",
            reportingController="c.example.com",
            reportingInstance="i",
            series=series,
        ),
    ]


def _rest() -> list[Object]:
    rules = [{"host": f"h{number}.example.com"} for number in range(5)]
    quota = {"hard": {"pods": "5", "limits.cpu": "4", "requests.cpu": "2"}, "used": {"pods": "1", "limits.cpu": "500m"}}
    backend = {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}
    parameters = {"apiGroup": "a.example.com", "kind": "K", "name": "n"}
    network = "networking.k8s.io/v1"
    return [
        named("v1", "ConfigMap", "map", data={"a": "1"}, binaryData={"b": "MQ=="}),
        named("v1", "Secret", "secret", stringData={"a": "1"}),
        named("v1", "ServiceAccount", "account"),
        named("v1", "LimitRange", "limits", spec={"limits": []}),
        named("v1", "ResourceQuota", "quota", spec={"hard": quota["hard"]}, status=quota),
        named("coordination.k8s.io/v1", "Lease", "held", spec={"holderIdentity": "me"}),
        named("coordination.k8s.io/v1", "Lease", "free", spec={}),
        named(
            "scheduling.k8s.io/v1", "PriorityClass", "high", value=1000, globalDefault=False, preemptionPolicy="Never"
        ),
        named("node.k8s.io/v1", "RuntimeClass", "runtime", handler="h"),
        named(network, "Ingress", "plain", spec=backend),
        named(network, "Ingress", "hosts", spec=backend | {"rules": rules, "tls": [{}], "ingressClassName": "c"}),
        named(network, "IngressClass", "class", spec={"controller": "a.example.com/c", "parameters": parameters}),
        named(network, "NetworkPolicy", "policy", spec={"podSelector": _SELECTOR}),
    ]


def samples() -> list[Object]:
    pods = [pod(name, status) for name, status in POD_STATUSES.items()]
    pods += [pod(name, status, two=True) for name, status in TWO_CONTAINER_STATUSES.items()]
    pods += [pod(name, status, init=True) for name, status in INIT_STATUSES.items()]
    gates = [{"conditionType": "a.example.com/ok"}, {"conditionType": "a.example.com/no"}]
    pods.append(pod("gates", {"conditions": [condition("a.example.com/ok")]}, readinessGates=gates, nodeName="ready"))
    return [
        *_nodes(), *pods, *_jobs(), *_services(), *_endpoints(), *_workloads(), *_rules(), *_storage(), *_events(),
        *_rest(),
    ]  # fmt: skip
