"""What pods may say for Windows: users, credentials, and containers that are processes of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tidegate.kube.wire import Object
from tidegate.local.errors import invalid
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import Errors, child, items, wrong

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS = re.compile(r"^[^\\/:*?\"<>|.][^\\/:*?\"<>|]{0,14}$")
_DOMAIN = re.compile(r"^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]$")
_FORBIDDEN = re.compile(r'["/\\:;|=,+*?<>@\[\]]')
_LONGEST_SPEC = 64 * 1024


def check_options(path: str, context: Object) -> Errors:
    """`path` is that of a security context."""
    if (options := context.get("windowsOptions")) is None:
        return
    at = f"{path}.windowsOptions"
    if (name := options.get("gmsaCredentialSpecName")) is not None:
        yield from wrong(f"{at}.gmsaCredentialSpecName", name, names.dns_subdomain(name))
    if (spec := options.get("gmsaCredentialSpec")) is not None:
        if not spec:
            yield invalid(f"{at}.gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
        elif len(spec.encode()) > _LONGEST_SPEC:
            yield invalid(f"{at}.gmsaCredentialSpec", spec, "gmsaCredentialSpec size must be under 64 KiB")
    if (user := options.get("runAsUserName")) is not None:
        yield from wrong(f"{at}.runAsUserName", user, _user_errors(user))


def _user_errors(name: str) -> Iterator[str]:
    if not name:
        yield "runAsUserName cannot be an empty string"
    elif _CONTROL.search(name):
        yield "runAsUserName cannot contain control characters"
    elif name.count("\\") > 1:
        yield "runAsUserName cannot contain more than one backslash"
    else:
        domain, backslash, user = name.rpartition("\\")
        if len(domain) >= 256:
            yield "runAsUserName's Domain length must be under 256 characters"
        if backslash and not (_NET_BIOS.match(domain) or _DOMAIN.match(domain)):
            yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "runAsUserName's User cannot be empty"
        elif len(user) > 104:
            yield "runAsUserName's User length must not be longer than 104 characters"
        if re.fullmatch(r"[. ]+", user):
            yield "runAsUserName's User cannot contain only periods or spaces"
        if _FORBIDDEN.search(user):
            yield "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def check_host_processes(path: str, spec: Object) -> Errors:
    """A pod is a process of the host with all its containers, or with none."""
    wanted = child(spec, "securityContext", "windowsOptions").get("hostProcess")
    found = [
        pair for sort in ("initContainers", "containers", "ephemeralContainers") for pair in items(spec, sort, path)
    ]
    count = 0
    for at, container in found:
        own = child(container, "securityContext", "windowsOptions").get("hostProcess")
        if wanted is not None and own is not None and wanted != own:
            says = f"pod hostProcess value must be identical if both are specified, was {str(wanted).lower()}"
            yield invalid(f"{at}.securityContext.windowsOptions.hostProcess", own, says)
        count += bool(wanted if own is None else own)
    if count and count != len(found):
        says = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid(path, "", says)
    if count and not spec.get("hostNetwork"):
        says = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", False, says)
