"""The fields a request cannot change because the server puts them back: nobody comes to own them by sending them."""

from __future__ import annotations

from tidegate.local.patch.apply.fieldset import MEMBER, FieldSet

_STATUS: FieldSet = {"f:status": MEMBER}
_SPEC: FieldSet = {"f:spec": MEMBER}
_SPEC_AND_METADATA: FieldSet = {"f:spec": MEMBER, "f:metadata": MEMBER}

_NO_MAIN_RESET = {
    ("", "Event"),
    ("certificates.k8s.io", "PodCertificateRequest"),
}
_OF_STATUS: dict[tuple[str, str], FieldSet] = {
    ("", "Pod"): _SPEC | {"f:metadata": {"f:deletionTimestamp": MEMBER, "f:ownerReferences": MEMBER}},
    ("apps", "Deployment"): _SPEC | {"f:metadata": {"f:labels": MEMBER}},
    ("certificates.k8s.io", "CertificateSigningRequest"): _SPEC | {"f:status": {"f:conditions": MEMBER}},
}
_WHOLE_METADATA = {
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("apiregistration.k8s.io", "APIService"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("resource.k8s.io", "ResourceClaim"),
    ("scheduling.k8s.io", "PodGroup"),
    ("storage.k8s.io", "VolumeAttachment"),
}


def reset_fields(group: str, kind: str, subresource: str, *, has_status: bool, custom: bool) -> FieldSet:
    """What a write to this resource, or to this subresource of it, leaves as it is. `custom`: the kind is of a CRD."""
    if subresource == "status":
        if custom or (group, kind) in _WHOLE_METADATA:
            return _SPEC_AND_METADATA
        return _OF_STATUS.get((group, kind), _SPEC)
    if (group, kind) == ("certificates.k8s.io", "CertificateSigningRequest"):
        return _SPEC | {"f:status": {"f:certificate": MEMBER} if subresource == "approval" else MEMBER}
    return _STATUS if has_status and (group, kind) not in _NO_MAIN_RESET else {}
