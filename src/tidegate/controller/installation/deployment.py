"""The Deployment: two replicas, of which one leads and both answer; no privileges, nothing to write to but /tmp."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.kube.wire import Object

NAMESPACE = "tidegate-system"
NAME = "tidegate"
_LABELS = {"app.kubernetes.io/name": NAME}
_DOORS, _HEALTH = 9443, 8080
_NOBODY = 65532
_KINDS = "/etc/tidegate/kinds"
_MOUNTS = {"tmp": "/tmp", "kinds": _KINDS}  # noqa: S108 — a volume of its own


@dataclass(frozen=True, slots=True)
class Choice:
    """What people choose when they install."""

    image: str
    namespace: str = NAMESPACE
    everywhere: bool = False
    replicas: int = 2
    pull: str = "IfNotPresent"
    kinds: tuple[str, ...] = ()
    """Files of kinds of one's own: their text."""


def service(choice: Choice) -> Object:
    ports = [{"name": "webhooks", "port": 443, "targetPort": "webhooks"}]
    ports.append({"name": "metrics", "port": _HEALTH, "targetPort": "metrics"})
    meta = {"name": NAME, "namespace": choice.namespace, "labels": _LABELS}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"selector": _LABELS, "ports": ports}}


def budget(choice: Choice) -> Object:
    """One of them answers while nodes are drained."""
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": _LABELS}}
    meta = {"name": NAME, "namespace": choice.namespace, "labels": _LABELS}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}


def deployment(choice: Choice) -> Object:
    meta = {"name": NAME, "namespace": choice.namespace, "labels": _LABELS}
    spec = {
        "replicas": choice.replicas,
        "selector": {"matchLabels": _LABELS},
        # A new one answers before an old one goes.
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": {"metadata": {"labels": _LABELS}, "spec": _pod(choice)},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


def arguments(choice: Choice) -> list[str]:
    """Of `tidegate operator`."""
    return [
        "operator",
        f"--manage={'all' if choice.everywhere else 'labelled'}",
        f"--lease-namespace={choice.namespace}",
        f"--webhook-service={choice.namespace}/{NAME}",
        f"--webhook-bind=:{_DOORS}",
        f"--metrics-bind=:{_HEALTH}",
        "--log-format=json",
        *(f"--kinds={_KINDS}/{name}" for name in _files(choice)),
    ]


def config(choice: Choice) -> Object:
    """Kinds of one's own."""
    meta = {"name": f"{NAME}-kinds", "namespace": choice.namespace, "labels": _LABELS}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": _files(choice)}


def _files(choice: Choice) -> dict[str, str]:
    return {f"{number}.yaml": text for number, text in enumerate(choice.kinds)}


def _volumes(choice: Choice) -> list[Object]:
    tmp = {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}
    return [tmp, {"name": "kinds", "configMap": {"name": f"{NAME}-kinds"}}] if choice.kinds else [tmp]


def _pod(choice: Choice) -> Object:
    return {
        "serviceAccountName": NAME,
        # It must come up before what it queues.
        "priorityClassName": "system-cluster-critical",
        "terminationGracePeriodSeconds": 30,
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": _NOBODY, "runAsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": _LABELS},
            }
        ],
        "volumes": _volumes(choice),
        "containers": [_container(choice)],
    }  # fmt: skip


def _container(choice: Choice) -> Object:
    def probe(path: str, **more: int) -> Object:
        return {"httpGet": {"path": path, "port": "metrics"}, **more}

    return {
        "name": "operator",
        "image": choice.image,
        "imagePullPolicy": choice.pull,
        "command": ["tidegate"],
        "args": arguments(choice),
        "ports": [
            {"name": "webhooks", "containerPort": _DOORS},
            {"name": "metrics", "containerPort": _HEALTH},
        ],
        "livenessProbe": probe("/healthz", periodSeconds=10, failureThreshold=6),
        "readinessProbe": probe("/readyz", periodSeconds=5),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": each["name"], "mountPath": _MOUNTS[each["name"]]} for each in _volumes(choice)],
    }
