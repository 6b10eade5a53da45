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
        "core.endpoints": ("Endpoints",),
        "core.node": ("Node",),
        "core.event": ("Event",),
        "core.quota": ("ResourceQuota", "LimitRange"),
        "core.claims": ("PersistentVolumeClaim",),
        "core.persistent_volume": ("PersistentVolume",),
        "apps.replicas": ("ReplicationController",),
        "reviews": ("Binding",),
    },
    "admissionregistration.k8s.io": {
        "admission.webhooks": ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"),
        "admission.policies": (
            *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
            *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
        ),
    },
    "apiregistration.k8s.io": {"registration": ("APIService",)},
    "apps": {
        "apps.replicas": ("Deployment", "ReplicaSet"),
        "apps.sets": ("StatefulSet", "DaemonSet", "ControllerRevision"),
    },
    "authentication.k8s.io": {"reviews": ("TokenRequest",)},
    "authorization.k8s.io": {"reviews": ("SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview")},
    "autoscaling": {"policy": ("HorizontalPodAutoscaler",), "reviews": ("Scale",)},
    "batch": {"batch.job": ("Job",), "batch.cron_job": ("CronJob",)},
    "certificates.k8s.io": {"registration": ("CertificateSigningRequest",)},
    "coordination.k8s.io": {"policy": ("Lease",)},
    "discovery.k8s.io": {"core.endpoints": ("EndpointSlice",)},
    "events.k8s.io": {"core.event": ("Event",)},
    "flowcontrol.apiserver.k8s.io": {"flow": ("FlowSchema", "PriorityLevelConfiguration")},
    "networking.k8s.io": {"networking": ("NetworkPolicy", "Ingress", "IngressClass")},
    "node.k8s.io": {"storage": ("RuntimeClass",)},
    "policy": {"policy": ("PodDisruptionBudget",)},
    "rbac.authorization.k8s.io": {"access": ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")},
    "scheduling.k8s.io": {"policy": ("PriorityClass",)},
    "storage.k8s.io": {"storage": ("StorageClass", "CSIDriver", "CSINode", "VolumeAttachment")},
}


@cache
def strategy_for(group: str, kind: str) -> Strategy:
    """The rules of a kind; the rules of a kind without rules if none are known."""
    for module, kinds in _MODULES.get(group, {}).items():
        if kind in kinds:
            strategy: Strategy = getattr(import_module(f"{_HERE}.{module}"), kind)()
            return strategy
    return Strategy()
