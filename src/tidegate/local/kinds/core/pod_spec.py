"""The spec of a pod, wherever it stands: in a pod, or in the template of a kind that makes pods."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import (
    duplicate,
    field_not_found,
    forbidden_field,
    invalid,
    not_supported,
    required,
    too_long,
)
from tidegate.local.kinds import names, selectors
from tidegate.local.kinds.core import containers, pod_annotations, resources, security, volumes, windows
from tidegate.local.kinds.metadata import check_annotations, check_labels
from tidegate.local.kinds.remembered import remembered
from tidegate.local.kinds.rules import (
    MOST_INT32,
    Errors,
    child,
    items,
    maybe_one_of,
    name_of,
    one_of,
    positive,
    within,
    wrong,
)

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_NAMED = {
    "serviceAccountName": names.dns_subdomain,
    "nodeName": names.dns_subdomain,
    "hostname": names.dns_label,
    "subdomain": names.dns_label,
    "priorityClassName": names.dns_subdomain,
    "runtimeClassName": names.dns_subdomain,
}


def default_pod_spec(spec: Object) -> None:
    spec["dnsPolicy"] = spec.get("dnsPolicy") or "ClusterFirst"
    spec["restartPolicy"] = spec.get("restartPolicy") or "Always"
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    spec["schedulerName"] = spec.get("schedulerName") or "default-scheduler"
    if account := spec.get("serviceAccountName") or spec.get("serviceAccount"):
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    volumes.default_volumes(spec)
    for sort in containers.SORTS:
        for container in spec.get(sort) or ():
            containers.default_container(container)
    resources.round_up(spec.get("overhead"))
    for sort in ("limits", "requests"):
        resources.round_up(child(spec, "resources").get(sort))


def default_template(owner: Object) -> None:
    """Defaults of `template` in the spec of a kind that makes pods."""
    default_pod_spec(owner.setdefault("template", {}).setdefault("spec", {}))


def drop_disabled(spec: Object) -> None:
    spec.pop("schedulingGroup", None)
    volumes.drop_disabled(spec)
    for sort in containers.SORTS:
        for container in spec.get(sort) or ():
            containers.drop_disabled(container)


def check_template(path: str, template: Object) -> Errors:
    metadata, spec = child(template, "metadata"), child(template, "spec")
    yield from check_labels(f"{path}.labels", metadata.get("labels") or {})
    yield from check_annotations(f"{path}.annotations", metadata.get("annotations") or {})
    yield from pod_annotations.check(f"{path}.annotations", metadata.get("annotations") or {}, spec)
    yield from check_pod_spec(f"{path}.spec", spec)
    yield from pod_annotations.match_profiles(f"{path}.spec", metadata.get("annotations") or {}, spec)
    if spec.get("ephemeralContainers"):
        yield forbidden_field(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


@remembered
def check_pod_spec(path: str, spec: Object, pod: str | None = None) -> Errors:
    """`pod` is the pod's name (empty where it cannot matter) if this is its own spec, None if it is a template's."""
    found, errors = volumes.check_volumes(path, spec, pod or "", pod is not None)
    yield from errors
    yield from _claims(path, spec)
    context = containers.PodContext(
        volumes=found,
        claims=frozenset(claim["name"] for claim in spec.get("resourceClaims") or () if claim.get("name")),
        grace_s=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec["restartPolicy"],
        host_users=spec.get("hostUsers") is not False,
    )
    yield from containers.check_containers(path, spec, context)
    yield from containers.check_init_containers(path, spec, context)
    yield from containers.check_ephemeral_containers(path, spec, context)
    yield from _pod_resources(path, spec, context)
    yield from _network(path, spec, pod is not None)
    yield from one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), RESTART_POLICIES)
    yield from security.pod(f"{path}.securityContext", child(spec, "securityContext"), spec)
    yield from security.host_users(path, spec)
    yield from windows.check_host_processes(path, spec)
    yield from _scheduling(path, spec)
    yield from _names(path, spec)
    yield from within(f"{path}.activeDeadlineSeconds", spec.get("activeDeadlineSeconds"), 1, MOST_INT32)
    if overhead := spec.get("overhead"):
        yield from resources.requirements(f"{path}.overhead", {"limits": overhead})
    yield from _operating_system(path, spec)
    yield from _files_in_env(path, spec)


def _names(path: str, spec: Object) -> Errors:
    for key, form in _NAMED.items():
        if value := spec.get(key):
            yield from wrong(f"{path}.{key}", value, form(value))
    if spec.get("runtimeClassName") == "":
        yield from wrong(f"{path}.runtimeClassName", "", names.dns_subdomain(""))
    if (override := spec.get("hostnameOverride")) is not None:
        at = f"{path}.hostnameOverride"
        if spec.get("setHostnameAsFQDN"):
            yield forbidden_field(at, "may not be specified when setHostnameAsFQDN is true")
        if spec.get("hostNetwork"):
            yield forbidden_field(at, "may not be specified when hostNetwork is true")
        if len(override) > 64:
            yield too_long(at, 64)
        yield from wrong(at, override, names.dns_subdomain(override))


def _claims(path: str, spec: Object) -> Errors:
    seen: set[str] = set()
    for at, claim in items(spec, "resourceClaims", path):
        name = claim.get("name") or ""
        if name and name in seen:
            yield duplicate(f"{at}.name", name)
        else:
            yield from name_of(f"{at}.name", name)
        seen.add(name)
        chosen = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if claim.get(key) is not None]
        if len(chosen) > 1:
            says = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(at, claim, says)
        elif not chosen:
            yield invalid(at, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        for key in chosen:
            yield from wrong(f"{at}.{key}", claim[key], names.dns_subdomain(claim[key]))


def _pod_resources(path: str, spec: Object, context: containers.PodContext) -> Errors:
    """Amounts for the pod as a whole, which its containers share."""
    if (level := spec.get("resources")) is None:
        return
    at = f"{path}.resources"
    if child(spec, "os").get("name") == "windows":
        yield forbidden_field(at, "may not be set for a windows pod")
        return
    if level.get("claims"):
        yield forbidden_field(f"{at}.claims", "claims may not be set for Resources at pod-level")
    yield from resources.requirements(at, level, context.claims, resources.pod_resource_name)
    for sort in ("requests", "limits"):
        amounts = level.get(sort) or {}
        for name, total in resources.aggregate(spec, sort).items():
            binding = name in amounts and (sort == "requests" or name.startswith(resources.HUGE))
            if binding and total > resources.quantity(amounts[name]):
                says = f"must be greater than or equal to aggregate container {sort} of {total}"
                yield invalid(f"{at}.{sort}[{name}]", amounts[name], says)
    limits = level.get("limits") or {}
    for container_at, container in items(spec, "containers", at):
        for name, text in child(container, "resources", "limits").items():
            if name in limits and resources.quantity(text) > resources.quantity(limits[name]):
                says = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid(f"{container_at}[{name}].limits", text, says)


def _network(path: str, spec: Object, is_pod: bool) -> Errors:
    if spec.get("hostNetwork"):
        for at, container in items(spec, "containers", path):
            for port_at, port in items(container, "ports", at):
                host = port.get("hostPort") or 0
                if (is_pod or host) and host != (port.get("containerPort") or 0):
                    says = "must match `containerPort` when `hostNetwork` is true"
                    yield invalid(f"{port_at}.hostPort", host, says)
    policy = spec.get("dnsPolicy")
    yield from one_of(f"{path}.dnsPolicy", policy, _DNS_POLICIES)
    yield from _dns_config(f"{path}.dnsConfig", spec.get("dnsConfig"), policy == "None")
    for at, alias in items(spec, "hostAliases", path):
        yield from wrong(f"{at}.ip", alias.get("ip") or "", names.ip_address(alias.get("ip") or ""))
        for name_at, name in items(alias, "hostnames", at):
            yield from wrong(name_at, name, names.dns_subdomain(name))


def _dns_config(path: str, config: Object | None, alone: bool) -> Errors:
    if alone and config is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        return
    config = config or {}
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if alone and not servers:
        yield required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
        return
    if len(servers) > 3:
        yield invalid(f"{path}.nameservers", servers, "must not have more than 3 nameservers")
    for at, server in items(config, "nameservers", path):
        yield from wrong(at, server, names.ip_address(server))
    if len(searches) > 32:
        yield invalid(f"{path}.searches", searches, "must not have more than 32 search paths")
    if len(" ".join(searches)) > 2048:
        says = "must not have more than 2048 characters (including spaces) in the search list"
        yield invalid(f"{path}.searches", searches, says)
    for at, search in items(config, "searches", path):
        if search != ".":
            search = search.removesuffix(".")  # noqa: PLW2901
            yield from wrong(at, search, names.dns_subdomain_underscored(search))
    for at, option in items(config, "options", path):
        if not option.get("name"):
            yield required(at, "must not be empty")


def _scheduling(path: str, spec: Object) -> Errors:
    yield from check_labels(f"{path}.nodeSelector", spec.get("nodeSelector") or {})
    yield from selectors.affinity(f"{path}.affinity", child(spec, "affinity"))
    for at, gate in items(spec, "readinessGates", path):
        sort = gate.get("conditionType") or ""
        yield from wrong(f"{at}.conditionType", sort, names.qualified_name(sort))
    seen: set[str] = set()
    for at, gate in items(spec, "schedulingGates", path):
        name = gate.get("name") or ""
        yield from wrong(at, name, names.qualified_name(name))
        if name in seen:
            yield duplicate(at, name)
        seen.add(name)
    yield from _spread(path, spec)
    yield from selectors.tolerations(f"{path}.tolerations", spec.get("tolerations") or [])
    if (policy := spec.get("preemptionPolicy")) is not None:
        yield from one_of(f"{path}.preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))


def _spread(path: str, spec: Object) -> Errors:
    seen: dict[tuple[str, str], str] = {}
    for at, constraint in items(spec, "topologySpreadConstraints", path):
        key, action = constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""
        yield from positive(f"{at}.maxSkew", constraint.get("maxSkew") or 0)
        if not key:
            yield required(f"{at}.topologyKey", "can not be empty")
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            yield not_supported(f"{at}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
        if (earlier := seen.get((key, action))) is not None:
            yield duplicate(f"{earlier}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}")
        seen[key, action] = at
        if (domains := constraint.get("minDomains")) is not None:
            yield from positive(f"{at}.minDomains", domains)
            if action != "DoNotSchedule":
                says = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
                yield invalid(f"{at}.minDomains", domains, says)
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            yield from maybe_one_of(f"{at}.{policy}", constraint.get(policy), ("Honor", "Ignore"))
        yield from selectors.label_keys(at, {**constraint, "mismatchLabelKeys": None})
        yield from selectors.label_selector(f"{at}.labelSelector", constraint.get("labelSelector"))


def _operating_system(path: str, spec: Object) -> Errors:
    if (system := spec.get("os")) is None:
        return
    name = system.get("name") or ""
    if not name:
        yield required(f"{path}.os.name")
    elif name not in ("linux", "windows"):
        yield not_supported(f"{path}.os", name, ("linux", "windows"))
    elif name == "linux":
        for at, owner in ((path, spec), *(pair for sort in containers.SORTS for pair in items(spec, sort, path))):
            if child(owner, "securityContext").get("windowsOptions") is not None:
                says = "windows options cannot be set for a linux pod"
                yield forbidden_field(f"{at}.securityContext.windowsOptions", says)


def _files_in_env(path: str, spec: Object) -> Errors:
    """Variables read from a file: it must be in a volume that is the pod's own."""
    sources = {volume.get("name"): volume for volume in spec.get("volumes") or ()}
    for sort in containers.SORTS:
        for at, container in items(spec, sort, path):
            for env_at, variable in items(container, "env", at):
                if (ref := child(variable, "valueFrom").get("fileKeyRef")) is None:
                    continue
                name, name_at = ref.get("volumeName") or "", f"{env_at}.valueFrom.fileKeyRef.volumeName"
                if name not in sources:
                    yield field_not_found(name_at, name)
                elif sources[name].get("emptyDir") is None:
                    yield invalid(name_at, name, "referenced volume must be of type emptyDir")
