"""Which strategy a kind has. Modules are imported when their first kind is asked for, to keep start-up cheap."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tidegate.local.kinds.strategy import Strategy

_HERE = __package__

# API group → module → the kinds it holds; each is a class of that name.
_MODULES: dict[str, dict[str, tuple[str, ...]]] = {
    "": {
        "core.pod": ("Pod", "PodTemplate"),
        "core.objects": ("Namespace", "ConfigMap", "Secret", "ServiceAccount"),
        "core.service": ("Service",),
        "core.quota": ("ResourceQuota", "LimitRange"),
        "core.claims": ("PersistentVolumeClaim",),
        "apps.replicas": ("ReplicationController",),
    },
    "apps": {
        "apps.replicas": ("Deployment", "ReplicaSet"),
        "apps.sets": ("StatefulSet", "DaemonSet", "ControllerRevision"),
    },
    "autoscaling": {"policy": ("HorizontalPodAutoscaler",)},
    "batch": {"batch.job": ("Job",), "batch.cron_job": ("CronJob",)},
    "coordination.k8s.io": {"policy": ("Lease",)},
    "networking.k8s.io": {"networking": ("NetworkPolicy", "Ingress", "IngressClass")},
    "policy": {"policy": ("PodDisruptionBudget",)},
    "rbac.authorization.k8s.io": {"access": ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")},
    "scheduling.k8s.io": {"access": ("PriorityClass",)},
}


@cache
def strategy_for(group: str, kind: str) -> Strategy:
    """The rules of a kind; the rules of a kind without rules if none are known."""
    for module, kinds in _MODULES.get(group, {}).items():
        if kind in kinds:
            strategy: Strategy = getattr(import_module(f"{_HERE}.{module}"), kind)()
            return strategy
    return Strategy()
