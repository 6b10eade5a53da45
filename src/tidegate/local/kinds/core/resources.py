"""Resource names and amounts: of containers, pods, quotas, limits and nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from tidegate.kube.wire import Object
from tidegate.local.errors import (
    FieldError,
    duplicate,
    field_not_found,
    forbidden_field,
    invalid,
    not_supported,
    required,
)
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import Errors, child, items, wrong
from tidegate.model.quantity import NANO, Quantity

Amounts = Mapping[str, str]

HUGE = "hugepages-"
_COUNTED = (
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_PREFIXED = [f"{prefix}.{name}" for prefix in ("requests", "limits") for name in _COMPUTE]
QUOTA = {*_COUNTED, *_COMPUTE, *_PREFIXED, "requests.storage"}
STANDARD = {*QUOTA, "storage"}
POD_LEVEL = ("cpu", "memory")
NOT_INTEGER = "must be an integer"

quantity = lru_cache(maxsize=4096)(Quantity.parse)


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    if is_native(name) or name.startswith("requests."):
        return False
    return not names.qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    return is_native(name) and not name.startswith(HUGE)


def _is_huge_quota(name: str) -> bool:
    return name.startswith((HUGE, f"requests.{HUGE}"))


def round_up(amounts: Object | None) -> None:
    """Kubernetes keeps nothing finer than a thousandth."""
    for name, text in (amounts or {}).items():
        if isinstance(text, str) and text[-1:] in ("n", "u"):
            amounts[name] = str(Quantity(quantity(text).milli * 10**6))  # type: ignore[index]


def resource_name(path: str, name: str) -> Errors:
    messages = names.qualified_name(name)
    yield from wrong(path, name, messages)
    if not messages and "/" not in name and name not in STANDARD and not _is_huge_quota(name):
        yield invalid(path, name, "must be a standard resource type or fully qualified")


def container_resource_name(path: str, name: str) -> Errors:
    yield from resource_name(path, name)
    if "/" not in name:
        if name not in _COMPUTE and not name.startswith(HUGE):
            yield invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def quota_resource_name(path: str, name: str) -> Errors:
    yield from resource_name(path, name)
    if "/" not in name and name not in QUOTA and not _is_huge_quota(name):
        yield invalid(path, name, "must be a standard resource for quota")


def pod_resource_name(path: str, name: str) -> Errors:
    errors = list(resource_name(path, name))
    yield from errors
    if not errors and name not in POD_LEVEL and not name.startswith(HUGE):
        yield not_supported(path, name, sorted(POD_LEVEL))


def amount(path: str, name: str, text: str) -> Errors:
    value = quantity(text)
    if value.nano < 0:
        yield invalid(path, text, "must be greater than or equal to 0")
    if (name in _COUNTED or is_extended(name)) and value.milli % 1000:
        yield invalid(path, text, NOT_INTEGER)


def _huge_page(path: str, name: str, text: str) -> Errors:
    if not name.startswith(HUGE):
        return
    try:
        page = quantity(name.removeprefix(HUGE))
    except ValueError:
        page = Quantity(0)
    if page.nano <= 0 or page.nano % NANO or quantity(text).value % page.value:
        yield invalid(path, text, f"{text} is not positive integer multiple of {name}")


def requirements(
    path: str,
    resources: Object,
    claims: Iterable[str] = (),
    name_check: Callable[[str, str], Iterable[FieldError]] = container_resource_name,
) -> Errors:
    """`requests` and `limits` together: what may be asked for, and that limits are not below requests."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for sort, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            at = f"{path}.{sort}[{name}]"
            yield from name_check(at, name)
            yield from amount(at, name, text)
            if sort == "requests":
                yield from _against_limit(path, name, text, limits)
            yield from _huge_page(at, name, text)
    asked = {*limits, *requests}
    if any(name.startswith(HUGE) for name in asked) and not asked & {"cpu", "memory"}:
        yield forbidden_field(path, "HugePages require cpu or memory")
    yield from _claim_names(path, resources, set(claims))


def _against_limit(path: str, name: str, text: str, limits: Amounts) -> Errors:
    limit = limits.get(name)
    if limit is None:
        if not may_overcommit(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    elif quantity(text) != quantity(limit) and not may_overcommit(name):
        yield invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limit}")
    elif quantity(text) > quantity(limit):
        yield invalid(f"{path}.requests", text, f"must be less than or equal to {name} limit of {limit}")


def _claim_names(path: str, resources: Object, known: set[str]) -> Errors:
    seen: set[str] = set()
    for at, claim in items(resources, "claims", path):
        name, request = claim.get("name") or "", claim.get("request") or ""
        if not name:
            yield required(at)
            continue
        key = f"{name}/{request}" if request else name
        if request and name not in seen:
            yield from wrong(f"{at}.request", request, names.dns_label(request))
        if name in seen:
            yield duplicate(at, name)
        elif key in seen or (not request and any(other.partition("/")[0] == name for other in seen)):
            yield duplicate(at, key)
        seen.add(key)
        if name not in known:
            yield field_not_found(at, name)


def add(totals: dict[str, Quantity], amounts: Amounts) -> None:
    for name, text in amounts.items():
        totals[name] = totals.get(name, Quantity(0)) + quantity(text)


def aggregate(spec: Object, sort: str) -> dict[str, Quantity]:
    """What the containers of a pod need together: running ones summed, or the greediest moment of starting up."""
    totals: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        add(totals, child(container, "resources", sort))
    sidecars: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        amounts = child(container, "resources", sort)
        if container.get("restartPolicy") == "Always":
            add(totals, amounts)
            add(sidecars, amounts)
            moment = sidecars
        else:
            moment = dict(sidecars)
            add(moment, amounts)
        for name, value in moment.items():
            peak[name] = max(peak.get(name, value), value)
    for name, value in peak.items():
        totals[name] = max(totals.get(name, value), value)
    return totals


def qos_class(spec: Object) -> str:
    """How a pod is treated when its node runs out: by whether it says what it needs, and no more than that."""
    level = spec.get("resources")
    sources = (
        [level]
        if level is not None
        else [
            child(container, "resources")
            for sort in ("containers", "initContainers")
            for container in spec.get(sort) or ()
        ]
    )
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    for source in sources:
        add(requests, _positive(source.get("requests")))
        limited = _positive(source.get("limits"))
        add(limits, limited)
        if len(limited) < 2 and (level is None or source.get("limits")):
            guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _positive(amounts: Amounts | None) -> Amounts:
    return {name: text for name, text in (amounts or {}).items() if name in POD_LEVEL and quantity(text).nano > 0}
