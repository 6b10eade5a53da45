"""Which columns each of Kubernetes' own kinds has, and who fills them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tidegate.kube.wire import Object
from tidegate.local.tables import core, devices, rules, storage, workloads
from tidegate.local.tables.columns import Column, columns
from tidegate.local.tables.pods import pod_cells
from tidegate.local.tables.times import Since
from tidegate.local.tables.words import created, name_of

Cells = Callable[[Object, Since], list[Any]]


class Layout(NamedTuple):
    columns: tuple[Column, ...]
    cells: Cells
    order: Callable[[Object], Any] | None = None
    """By what the rows are sorted, if not as listed."""


def _plain(obj: Object, _: Since) -> list[Any]:
    return [name_of(obj), created(obj) or "0001-01-01T00:00:00Z"]


PLAIN = Layout(columns("Name", "Created At:date"), _plain)
"""For a kind that Kubernetes has no columns for."""

_WIDE_TEMPLATE = ("Containers+", "Images+", "Selector+")
_REPLICAS = columns("Name", "Desired:integer", "Current:integer", "Ready:integer", "Age", *_WIDE_TEMPLATE)
_BINDING = columns("Name", "Role", "Age", "Users+", "Groups+", "ServiceAccounts+")
_WEBHOOKS = Layout(columns("Name", "Webhooks:integer", "Age"), rules.webhooks)
_POLICY_BINDING = Layout(columns("Name", "PolicyName", "ParamRef", "Age"), rules.policy_binding)
_NAME_AND_AGE = Layout(columns("Name", "Age"), core.only_name)
_EVENT = Layout(
    columns(
        *("Last Seen", "Type", "Reason", "Object", "Subobject+", "Source+", "Message", "First Seen+", "Count+", "Name+")
    ),
    core.event,
)

_CORE: dict[str, Layout] = {
    "Pod": Layout(
        columns(*("Name", "Ready", "Status", "Restarts", "Age", "IP+", "Node+", "Nominated Node+", "Readiness Gates+")),
        pod_cells,
    ),
    "PodTemplate": Layout(columns("Name", "Containers", "Images", "Pod Labels"), workloads.pod_template),
    "ReplicationController": Layout(_REPLICAS, workloads.replication_controller),
    "Service": Layout(
        columns("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector+"), core.service
    ),
    "Endpoints": Layout(columns("Name", "Endpoints", "Age"), core.endpoints),
    "Node": Layout(
        columns(
            *("Name", "Status", "Roles", "Age", "Version"),
            *("Internal-IP+", "External-IP+", "OS-Image+", "Kernel-Version+", "Container-Runtime+"),
        ),
        core.node,
    ),
    "Namespace": Layout(columns("Name", "Status", "Age"), core.namespace),
    "ConfigMap": Layout(columns("Name", "Data", "Age"), core.config_map),
    "Secret": Layout(columns("Name", "Type", "Data", "Age"), core.secret),
    "ServiceAccount": _NAME_AND_AGE,
    "Event": _EVENT,
    "ResourceQuota": Layout(columns("Name", "Request", "Limit", "Age"), core.resource_quota),
    "PersistentVolume": Layout(
        columns(
            *("Name", "Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim", "StorageClass"),
            *("VolumeAttributesClass", "Reason", "Age", "VolumeMode+"),
        ),
        storage.volume,
    ),
    "PersistentVolumeClaim": Layout(
        columns(
            *("Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass"),
            *("VolumeAttributesClass", "Age", "VolumeMode+"),
        ),
        storage.claim,
    ),
}
_BATCH: dict[str, Layout] = {
    "Job": Layout(columns("Name", "Status", "Completions", "Duration", "Age", *_WIDE_TEMPLATE), workloads.job),
    "CronJob": Layout(
        columns(
            *("Name", "Schedule", "Timezone", "Suspend:boolean", "Active:integer", "Last Schedule", "Age"),
            *_WIDE_TEMPLATE,
        ),
        workloads.cron_job,
    ),
}
_APPS: dict[str, Layout] = {
    "Deployment": Layout(
        columns("Name", "Ready", "Up-to-date", "Available", "Age", *_WIDE_TEMPLATE), workloads.deployment
    ),
    "ReplicaSet": Layout(_REPLICAS, workloads.replica_set),
    "StatefulSet": Layout(columns("Name", "Ready", "Age", "Containers+", "Images+"), workloads.stateful_set),
    "DaemonSet": Layout(
        columns(
            *("Name", "Desired:integer", "Current:integer", "Ready:integer", "Up-to-date:integer"),
            *("Available:integer", "Node Selector", "Age", *_WIDE_TEMPLATE),
        ),
        workloads.daemon_set,
    ),
    "ControllerRevision": Layout(columns("Name", "Controller", "Revision", "Age"), workloads.controller_revision),
}
_RULES: dict[str, dict[str, Layout]] = {
    "rbac.authorization.k8s.io": {
        "RoleBinding": Layout(_BINDING, rules.binding),
        "ClusterRoleBinding": Layout(_BINDING, rules.binding),
    },
    "admissionregistration.k8s.io": {
        "MutatingWebhookConfiguration": _WEBHOOKS,
        "ValidatingWebhookConfiguration": _WEBHOOKS,
        "ValidatingAdmissionPolicy": Layout(
            columns("Name", "Validations:integer", "ParamKind", "Age"), rules.validating_policy
        ),
        "MutatingAdmissionPolicy": Layout(
            columns("Name", "Mutations:integer", "ParamKind", "Age"), rules.mutating_policy
        ),
        "ValidatingAdmissionPolicyBinding": _POLICY_BINDING,
        "MutatingAdmissionPolicyBinding": _POLICY_BINDING,
    },
    "certificates.k8s.io": {
        "CertificateSigningRequest": Layout(
            columns("Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"), rules.signing_request
        ),
        "ClusterTrustBundle": Layout(columns("Name", "SignerName"), rules.trust_bundle),
        "PodCertificateRequest": Layout(
            columns(
                *("Name", "PodName", "ServiceAccountName", "NodeName", "SignerName", "State"),
                "UnverifiedUserAnnotations",
            ),
            rules.pod_certificate_request,
        ),
    },
    "flowcontrol.apiserver.k8s.io": {
        "FlowSchema": Layout(
            columns("Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"),
            rules.flow_schema,
            order=rules.precedence,
        ),
        "PriorityLevelConfiguration": Layout(
            columns("Name", "Type", "NominalConcurrencyShares", "Queues", "HandSize", "QueueLengthLimit", "Age"),
            rules.priority_level,
        ),
    },
    "apiregistration.k8s.io": {
        "APIService": Layout(columns("Name", "Service", "Available", "Age"), rules.api_service),
    },
}
_STORAGE: dict[str, Layout] = {
    "StorageClass": Layout(
        columns("Name", "Provisioner", "ReclaimPolicy", "VolumeBindingMode", "AllowVolumeExpansion", "Age"),
        storage.storage_class,
    ),
    "VolumeAttributesClass": Layout(columns("Name", "DriverName", "Age"), storage.attributes_class),
    "VolumeAttachment": Layout(
        (
            *columns("Name"),
            Column("Attacher", format="name"),
            *columns("PV", "Node", "Attached:boolean", "Age"),
        ),
        storage.attachment,
    ),
    "CSINode": Layout(columns("Name", "Drivers:integer", "Age"), storage.csi_node),
    "CSIDriver": Layout(
        columns(
            *("Name", "AttachRequired:boolean", "PodInfoOnMount:boolean", "StorageCapacity:boolean", "TokenRequests"),
            *("RequiresRepublish:boolean", "Modes", "Age"),
        ),
        storage.csi_driver,
    ),
}
LAYOUTS: dict[str, dict[str, Layout]] = {
    "": _CORE,
    "batch": _BATCH,
    "apps": _APPS,
    "storage.k8s.io": _STORAGE,
    "events.k8s.io": {"Event": _EVENT},
    "policy": {
        "PodDisruptionBudget": Layout(
            columns("Name", "Min Available", "Max Unavailable", "Allowed Disruptions:integer", "Age"),
            workloads.disruption_budget,
        ),
    },
    "autoscaling": {
        "HorizontalPodAutoscaler": Layout(
            columns("Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"), workloads.autoscaler
        ),
        "Scale": Layout(
            (Column("Name"), *columns("Desired:integer", "Available:integer", "Age")),
            core.scale,
        ),
    },
    "networking.k8s.io": {
        "Ingress": Layout(columns("Name", "Class", "Hosts", "Address", "Ports", "Age"), core.ingress),
        "IngressClass": Layout(columns("Name", "Controller", "Parameters", "Age"), core.ingress_class),
        "NetworkPolicy": Layout(columns("Name", "Pod-Selector", "Age"), core.network_policy),
        "IPAddress": Layout(columns("Name", "ParentRef"), core.ip_address),
        "ServiceCIDR": Layout(columns("Name", "CIDRs", "Age"), core.service_range),
    },
    "discovery.k8s.io": {
        "EndpointSlice": Layout(columns("Name", "AddressType", "Ports", "Endpoints", "Age"), core.endpoint_slice),
    },
    "coordination.k8s.io": {"Lease": Layout(columns("Name", "Holder", "Age"), core.lease)},
    "scheduling.k8s.io": {
        "PriorityClass": Layout(
            columns("Name", "Value:integer", "Global-Default:boolean", "Age", "PreemptionPolicy"), core.priority_class
        ),
        "Workload": _NAME_AND_AGE,
    },
    "node.k8s.io": {"RuntimeClass": Layout(columns("Name", "Handler", "Age"), core.runtime_class)},
    "resource.k8s.io": {
        "DeviceClass": _NAME_AND_AGE,
        "ResourceClaimTemplate": _NAME_AND_AGE,
        "ResourceClaim": Layout(columns("Name", "State", "Age"), devices.claim),
        "ResourceSlice": Layout(columns("Name", "Node", "Driver", "Pool", "Age"), devices.resource_slice),
        "DeviceTaintRule": Layout(columns("Name", "Key", "Value", "Effect", "TimeAdded", "Age"), devices.taint_rule),
    },
} | _RULES


def layout(group: str, kind: str) -> Layout:
    return LAYOUTS.get(group, {}).get(kind, PLAIN)
