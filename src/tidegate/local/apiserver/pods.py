"""What is done to pods besides writing them: binding to a node, eviction, logs, and talking to their processes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_data, decode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import raw_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.delete import delete_object
from tidegate.local.apiserver.delete_options import checked_options
from tidegate.local.apiserver.options import whole_number
from tidegate.local.apiserver.selectors import selector_of
from tidegate.local.apiserver.write import update_object
from tidegate.local.errors import (
    ApiError,
    FieldError,
    bad_request,
    conflict,
    forbidden_field,
    invalid,
    invalid_object,
    not_found,
    required,
)
from tidegate.local.schema.builtin import builtin_schema

_CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(api: Api, call: Call) -> Response:
    """POST pods/x/binding (or a Binding): the pod is to run on this node."""
    binding = decode(raw_body(call.request, builtin_schema("io.k8s.api.core.v1.Binding")))
    node = (binding.get("target") or {}).get("name", "")
    if not node:
        raise invalid_object("", "Binding", call.name, [required("target.name")])
    name = call.name or binding.get("metadata", {}).get("name", "")
    pods = api.registry.find("", "v1", "pods")
    assert pods is not None
    call.served = pods
    call.route = msgspec.structs.replace(call.route, plural="pods", name=name, subresource="binding")

    def bound(pod: Object) -> Object:
        return _bound(call, pod, node, binding)

    await update_object(api, call, bound, patched=True)
    return answer_data(call, 201, _CREATED)


def _bound(call: Call, pod: Object, node: str, binding: Object) -> Object:
    spec, metadata = pod["spec"], pod["metadata"]
    uid = (binding.get("metadata") or {}).get("uid")
    why = ""
    if uid and uid != metadata["uid"]:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata['uid']}"
    elif metadata.get("deletionTimestamp"):
        why = f"pod {metadata['name']} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f'pod {metadata["name"]} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        why = f"pod {metadata['name']} has non-empty .spec.schedulingGates"
    if why:
        raise conflict("", "pods/binding", metadata["name"], why)
    spec["nodeName"] = node
    annotations = (binding.get("metadata") or {}).get("annotations")
    if annotations:
        metadata["annotations"] = (metadata.get("annotations") or {}) | annotations
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": call.now}
    conditions[:] = [condition for condition in conditions if condition["type"] != "PodScheduled"] + [scheduled]
    return pod


async def evict(api: Api, call: Call) -> Response:
    """POST pods/x/eviction: a deletion that disruption budgets may refuse."""
    eviction = decode(raw_body(call.request, builtin_schema("io.k8s.api.policy.v1.Eviction")))
    row = api.store.get(call.served.key(call.namespace, call.name))
    if row is None:
        raise not_found("", "pods", call.name)
    _check_budgets(api, call, decode(row.value))
    options = checked_options(eviction.get("deleteOptions") or {})
    await delete_object(api, call, call.name, replace(options, dry_run=options.dry_run or call.dry_run))
    return answer_data(call, 201, _CREATED)


def _check_budgets(api: Api, call: Call, pod: Object) -> None:
    labels = pod["metadata"].get("labels") or {}
    for row in api.store.range(f"policy/poddisruptionbudgets/{call.namespace}/"):
        budget = decode(row.value)
        if not selector_of(budget.get("spec", {}).get("selector"))(labels):
            continue
        if not budget.get("status", {}).get("disruptionsAllowed"):
            name = budget["metadata"]["name"]
            message = "Cannot evict pod as it would violate the pod's disruption budget."
            cause = {"reason": "DisruptionBudget", "message": f"The disruption budget {name} does not allow it now"}
            raise ApiError(429, "TooManyRequests", message, {"causes": [cause]})


async def log(api: Api, call: Call) -> Response:
    if errors := log_errors(call.query):
        raise invalid_object("", "PodLogOptions", call.name, errors)
    container = _container(api, call)
    passed = {key: value for key, value in call.query.items() if key not in ("container", "pretty")}
    return await api.nodes.stream(container.node, f"/containerLogs/{container.path}", passed)


def log_errors(query: dict[str, str]) -> list[FieldError]:
    """What is wrong with PodLogOptions."""
    errors = []
    for key, least in (("tailLines", 0), ("limitBytes", 1)):
        if query.get(key) and (number := whole_number(query[key])) < least:
            says = f"must be greater than or equal to {least}" if not least else "must be greater than 0"
            errors.append(invalid(key, number, says))
    seconds, moment = query.get("sinceSeconds"), query.get("sinceTime")
    if seconds and moment:
        errors.append(forbidden_field("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif seconds and (number := whole_number(seconds)) < 1:
        errors.append(invalid("sinceSeconds", number, "must be greater than 0"))
    return errors


async def connect(api: Api, call: Call) -> Response:
    """exec and attach: the connection is handed to the node's agent as it is."""
    container = _container(api, call)
    path = {"exec": "exec", "attach": "attach"}[call.subresource]
    passed = {key: value for key, value in call.query.items() if key != "container"}
    return await api.nodes.tunnel(container.node, f"/{path}/{container.path}", passed, call.request)


async def forward(api: Api, call: Call) -> Response:
    """port-forward: as exec, for a pod as a whole."""
    row = api.store.get(call.served.key(call.namespace, call.name))
    if row is None:
        raise not_found("", "pods", call.name)
    name = decode(row.value)["spec"].get("nodeName")
    node = api.store.get(f"core/nodes/{name}") if name else None
    if node is None:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    return await api.nodes.tunnel(decode(node.value), f"/portForward/{call.namespace}/{call.name}", {}, call.request)


@dataclass(frozen=True, slots=True)
class _Container:
    node: Object
    path: str


def _container(api: Api, call: Call) -> _Container:
    """Which container is meant, and the node that has it."""
    row = api.store.get(call.served.key(call.namespace, call.name))
    if row is None:
        raise not_found("", "pods", call.name)
    pod = decode(row.value)
    spec = pod["spec"]
    known = [c["name"] for key in ("containers", "initContainers", "ephemeralContainers") for c in spec.get(key) or []]
    name = call.query.get("container", "")
    if not name:
        containers = [c["name"] for c in spec["containers"]]
        name = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container", containers[0])
        if len(containers) > 1 and name == containers[0]:
            listed = " ".join(containers)
            message = f"a container name must be specified for pod {call.name}, choose one of: [{listed}]"
            raise bad_request(message)
    if name not in known:
        raise bad_request(f"container {name} is not valid for pod {call.name}")
    host = api.store.get(f"core/nodes/{spec['nodeName']}") if spec.get("nodeName") else None
    if host is None:
        reason = "ContainerCreating" if spec.get("nodeName") else "no node has been assigned yet"
        raise bad_request(f'container "{name}" in pod "{call.name}" is waiting to start: {reason}')
    return _Container(decode(host.value), f"{call.namespace}/{call.name}/{name}")
