"""The built-in resources people need, as plain dicts; `dataclasses.replace(PODS, type=MyPod)` gives one with a type."""

from __future__ import annotations

from tidegate.kube.wire import Object, Resource


def _core(plural: str, kind: str, *, namespaced: bool = True) -> Resource[Object]:
    return Resource("", "v1", plural, kind, namespaced)


def _group(group: str, plural: str, kind: str, *, namespaced: bool = True) -> Resource[Object]:
    return Resource(group, "v1", plural, kind, namespaced)


PODS = _core("pods", "Pod")
SERVICES = _core("services", "Service")
ENDPOINTS = _core("endpoints", "Endpoints")
CONFIGMAPS = _core("configmaps", "ConfigMap")
SECRETS = _core("secrets", "Secret")
SERVICEACCOUNTS = _core("serviceaccounts", "ServiceAccount")
EVENTS = _core("events", "Event")
REPLICATIONCONTROLLERS = _core("replicationcontrollers", "ReplicationController")
RESOURCEQUOTAS = _core("resourcequotas", "ResourceQuota")
LIMITRANGES = _core("limitranges", "LimitRange")
PODTEMPLATES = _core("podtemplates", "PodTemplate")
PERSISTENTVOLUMECLAIMS = _core("persistentvolumeclaims", "PersistentVolumeClaim")
PERSISTENTVOLUMES = _core("persistentvolumes", "PersistentVolume", namespaced=False)
NAMESPACES = _core("namespaces", "Namespace", namespaced=False)
NODES = _core("nodes", "Node", namespaced=False)

JOBS = _group("batch", "jobs", "Job")
CRONJOBS = _group("batch", "cronjobs", "CronJob")

DEPLOYMENTS = _group("apps", "deployments", "Deployment")
REPLICASETS = _group("apps", "replicasets", "ReplicaSet")
STATEFULSETS = _group("apps", "statefulsets", "StatefulSet")
DAEMONSETS = _group("apps", "daemonsets", "DaemonSet")
CONTROLLERREVISIONS = _group("apps", "controllerrevisions", "ControllerRevision")

LEASES = _group("coordination.k8s.io", "leases", "Lease")
EVENTS_V1 = _group("events.k8s.io", "events", "Event")
ENDPOINTSLICES = _group("discovery.k8s.io", "endpointslices", "EndpointSlice")
NETWORKPOLICIES = _group("networking.k8s.io", "networkpolicies", "NetworkPolicy")
INGRESSES = _group("networking.k8s.io", "ingresses", "Ingress")
PODDISRUPTIONBUDGETS = _group("policy", "poddisruptionbudgets", "PodDisruptionBudget")
PRIORITYCLASSES = _group("scheduling.k8s.io", "priorityclasses", "PriorityClass", namespaced=False)
RUNTIMECLASSES = _group("node.k8s.io", "runtimeclasses", "RuntimeClass", namespaced=False)
STORAGECLASSES = _group("storage.k8s.io", "storageclasses", "StorageClass", namespaced=False)

_RBAC = "rbac.authorization.k8s.io"
ROLES = _group(_RBAC, "roles", "Role")
ROLEBINDINGS = _group(_RBAC, "rolebindings", "RoleBinding")
CLUSTERROLES = _group(_RBAC, "clusterroles", "ClusterRole", namespaced=False)
CLUSTERROLEBINDINGS = _group(_RBAC, "clusterrolebindings", "ClusterRoleBinding", namespaced=False)

CRDS = _group("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)
_ADMISSION = "admissionregistration.k8s.io"
MUTATINGWEBHOOKCONFIGURATIONS = _group(
    _ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", namespaced=False
)
VALIDATINGWEBHOOKCONFIGURATIONS = _group(
    _ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", namespaced=False
)
VALIDATINGADMISSIONPOLICIES = _group(
    _ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy", namespaced=False
)
VALIDATINGADMISSIONPOLICYBINDINGS = _group(
    _ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", namespaced=False
)
APISERVICES = _group("apiregistration.k8s.io", "apiservices", "APIService", namespaced=False)

TOKENREVIEWS = _group("authentication.k8s.io", "tokenreviews", "TokenReview", namespaced=False)
SELFSUBJECTREVIEWS = _group("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", namespaced=False)
SUBJECTACCESSREVIEWS = _group("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview", namespaced=False)
SELFSUBJECTACCESSREVIEWS = _group(
    "authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False
)
