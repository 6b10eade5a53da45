"""What every new pod is given: a service account with its token, a priority, and patience with sick nodes."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.answers import decode
from tidegate.local.errors import forbidden
from tidegate.local.store import Kept, Store

TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105
_TOLERATED_S = 300
_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class Pods:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._default_class = Kept(store, ("scheduling.k8s.io/priorityclasses/",), self._read_default_class)

    async def mutate(self, asked: Attributes) -> None:
        if not _is_pod(asked) or asked.obj is None:
            return
        pod = asked.obj
        if asked.operation == "CREATE":
            self._priority(asked, pod)
            self._account(asked, pod)
        elif asked.old is not None:
            _keep_priority(pod["spec"], asked.old["spec"])
        _tolerate(pod["spec"])

    async def validate(self, asked: Attributes) -> None:
        """Everything here is decided when the pod is changed."""

    def _priority(self, asked: Attributes, pod: Object) -> None:
        spec = pod["spec"]
        name = spec.get("priorityClassName")
        found: Object | None = None
        if name:
            row = self._store.newest(f"scheduling.k8s.io/priorityclasses/{name}")
            if row is None:
                raise forbidden("", "pods", asked.name, f"no PriorityClass with name {name} was found")
            found = decode(row.value)
        else:
            found = self._default_class()
            if found:
                spec["priorityClassName"] = found["metadata"]["name"]
        value = found["value"] if found else 0
        given = spec.get("priority")
        if given is not None and given != value:
            why = f"the integer value of priority ({given}) must not be provided in pod spec; "
            why += f"priority admission controller computed {value} from the given PriorityClass name"
            raise forbidden("", "pods", asked.name, why)
        spec["priority"] = value
        policy = (found or {}).get("preemptionPolicy") or "PreemptLowerPriority"
        given_policy = spec.get("preemptionPolicy")
        if given_policy is not None and given_policy != policy:
            why = f"the string value of PreemptionPolicy ({given_policy}) must not be provided in pod spec; "
            why += f"priority admission controller computed {policy} from the given PriorityClass name"
            raise forbidden("", "pods", asked.name, why)
        spec["preemptionPolicy"] = policy

    def _read_default_class(self) -> Object | None:
        rows = self._store.range("scheduling.k8s.io/priorityclasses/")
        found = [decode(row.value) for row in rows if b'"globalDefault":true' in row.value]
        return min(found, key=lambda cls: int(cls["value"]), default=None)

    def _account(self, asked: Attributes, pod: Object) -> None:
        spec = pod["spec"]
        if "kubernetes.io/config.mirror" in (pod["metadata"].get("annotations") or {}):
            return
        name = spec.setdefault("serviceAccountName", spec.get("serviceAccount") or "default")
        spec["serviceAccount"] = name
        row = self._store.newest(f"core/serviceaccounts/{asked.namespace}/{name}")
        if row is None:
            why = f'error looking up service account {asked.namespace}/{name}: serviceaccount "{name}" not found'
            raise forbidden("", "pods", asked.name, why)
        account = decode(row.value)
        mount = spec.get("automountServiceAccountToken")
        if mount is None:
            mount = account.get("automountServiceAccountToken", True)
        if mount:
            _mount_token(pod, asked.name or pod["metadata"].get("generateName", ""))
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = account["imagePullSecrets"]


def _keep_priority(spec: Object, known: Object) -> None:
    """A client that does not know of priorities sends a pod back without."""
    for key in ("priority", "preemptionPolicy"):
        if spec.get(key) is None and known.get(key) is not None:
            spec[key] = known[key]


def _is_pod(asked: Attributes) -> bool:
    return not asked.served.group and asked.served.plural == "pods" and not asked.subresource


def _mount_token(pod: Object, name: str) -> None:
    spec = pod["spec"]
    volumes: list[Any] = spec.setdefault("volumes", [])
    existing = [volume["name"] for volume in volumes if volume["name"].startswith("kube-api-access-")]
    volume = existing[0] if existing else f"kube-api-access-{_suffix(pod, name)}"
    used = False
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        mounts = container.setdefault("volumeMounts", [])
        if not any(mount["mountPath"] == TOKEN_PATH for mount in mounts):
            mounts.append({"name": volume, "readOnly": True, "mountPath": TOKEN_PATH})
            used = True
    if used and not existing:
        volumes.append({"name": volume, "projected": {"sources": _token_sources(), "defaultMode": 0o644}})
    if not volumes:
        del spec["volumes"]


def _suffix(pod: Object, name: str) -> str:
    import random

    return "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=5))  # noqa: S311


def _token_sources() -> list[Object]:
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]


def _tolerate(spec: Object) -> None:
    """A node that fails for less than five minutes does not cost a pod its place."""
    tolerations = spec.setdefault("tolerations", [])
    for taint in _TAINTS:
        covered = any(
            (not t.get("key") or t["key"] == taint) and t.get("effect") in (None, "", "NoExecute") for t in tolerations
        )
        if not covered:
            added = {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATED_S}
            tolerations.append(added)
