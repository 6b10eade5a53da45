"""Probes and lifecycle hooks: the ways to ask a container something."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import Errors, maybe_one_of, needs, not_negative, port_number_or_name, wrong

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_DEFAULTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def default_probe(probe: Object) -> None:
    for key, value in _PROBE_DEFAULTS.items():
        probe[key] = probe.get(key) or value
    default_handler(probe)
    if (grpc := probe.get("grpc")) is not None and grpc.get("service") is None:
        grpc["service"] = ""


def default_handler(handler: Object) -> None:
    if (http := handler.get("httpGet")) is not None:
        http["path"] = http.get("path") or "/"
        http["scheme"] = http.get("scheme") or "HTTP"


def _exec(path: str, action: Object) -> Errors:
    yield from needs(path, action, "command")


def _http(path: str, action: Object) -> Errors:
    yield from needs(path, action, "path")
    yield from port_number_or_name(f"{path}.port", action.get("port") or 0)
    yield from maybe_one_of(f"{path}.scheme", action.get("scheme") or "", ("HTTP", "HTTPS"))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        yield from wrong(f"{path}.httpHeaders", name, names.http_header(name))


def _port(path: str, action: Object) -> Errors:
    yield from port_number_or_name(f"{path}.port", action.get("port") or 0)


_ACTIONS: dict[str, Callable[[str, Object], Errors]] = {
    "exec": _exec,
    "httpGet": _http,
    "tcpSocket": _port,
    "grpc": _port,
}


def _handler(path: str, handler: Object, grace_s: int | None) -> Errors:
    chosen = False
    for key, check in _ACTIONS.items():
        if (action := handler.get(key)) is None:
            continue
        if chosen:
            yield forbidden_field(f"{path}.{key}", "may not specify more than 1 handler type")
        else:
            yield from check(f"{path}.{key}", action)
        chosen = True
    if (sleep := handler.get("sleep")) is not None:
        seconds = sleep.get("seconds") or 0
        if chosen:
            yield forbidden_field(f"{path}.sleep", "may not specify more than 1 handler type")
        elif grace_s is not None and not 0 <= seconds <= grace_s:
            says = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_s})"
            yield invalid(f"{path}.sleep", seconds, says)
        chosen = True
    if not chosen:
        yield required(path, "must specify a handler type")


def probes(path: str, container: Object, grace_s: int | None) -> Errors:
    for sort in PROBES:
        if (probe := container.get(sort)) is not None:
            yield from _probe(f"{path}.{sort}", probe, grace_s, sort)


def _probe(path: str, probe: Object, grace_s: int | None, sort: str) -> Errors:
    yield from _handler(path, probe, grace_s)
    yield from not_negative(path, probe, "initialDelaySeconds", *_PROBE_DEFAULTS)
    own_grace = probe.get("terminationGracePeriodSeconds")
    if own_grace is not None and own_grace <= 0:
        yield invalid(f"{path}.terminationGracePeriodSeconds", own_grace, "must be greater than 0")
    if sort != "readinessProbe":
        if probe["successThreshold"] != 1:
            yield invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")
    elif own_grace is not None:
        yield invalid(f"{path}.terminationGracePeriodSeconds", own_grace, "must not be set for readinessProbes")


def lifecycle(path: str, lifecycle: Object, grace_s: int | None) -> Errors:
    for hook in ("postStart", "preStop"):
        if (handler := lifecycle.get(hook)) is not None:
            yield from _handler(f"{path}.{hook}", handler, grace_s)
