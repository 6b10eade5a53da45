"""Webhooks: other programs that judge or change writes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.admission.matching import (
    FAILURES,
    MATCHES,
    Judge,
    check_conditions,
    check_rule,
    default_matching,
    default_rules,
)
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, wrong
from tidegate.local.kinds.selectors import label_selector

_NO_EFFECTS = ("None", "NoneOnDryRun")
_REVIEWS = ("v1", "v1beta1")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")
_FORM = "; desired format: https://host[/path]"


class ValidatingWebhookConfiguration(Judge):
    reinvokes = False

    def default(self, obj: Object) -> None:
        for hook in obj.get("webhooks") or ():
            default_matching(hook)
            default_rules(hook, "rules")
            values = {"failurePolicy": "Fail", "timeoutSeconds": 10}
            for key, value in (values | ({"reinvocationPolicy": "Never"} if self.reinvokes else {})).items():
                hook[key] = value if hook.get(key) is None else hook[key]
            if (service := child(hook, "clientConfig").get("service")) is not None and service.get("port") is None:
                service["port"] = 443

    def check(self, obj: Object) -> Errors:
        seen: set[str] = set()
        for index, hook in enumerate(obj.get("webhooks") or ()):
            at, name = f"webhooks[{index}]", hook.get("name") or ""
            yield from _hook_name(f"{at}.name", name)
            yield from _hook(at, hook)
            yield from maybe_one_of(f"{at}.reinvocationPolicy", hook.get("reinvocationPolicy"), ("IfNeeded", "Never"))
            yield from _review_versions(f"{at}.admissionReviewVersions", hook.get("admissionReviewVersions") or [])
            if name and name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)


class MutatingWebhookConfiguration(ValidatingWebhookConfiguration):
    reinvokes = True


def _hook_name(path: str, name: str) -> Errors:
    if not name:
        yield required(path)
    elif messages := names.dns_subdomain(name):
        yield invalid(path, name, ",".join(messages))
    elif name.count(".") < 2:
        yield invalid(path, name, "should be a domain with at least three segments separated by dots")


def _hook(path: str, hook: Object) -> Errors:
    for at, rule in items(hook, "rules", path):
        yield from check_rule(at, rule)
    yield from maybe_one_of(f"{path}.failurePolicy", hook.get("failurePolicy"), FAILURES)
    yield from maybe_one_of(f"{path}.matchPolicy", hook.get("matchPolicy"), MATCHES)
    if hook.get("sideEffects") is None:
        yield required(f"{path}.sideEffects", f"must specify one of {', '.join(_NO_EFFECTS)}")
    yield from maybe_one_of(f"{path}.sideEffects", hook.get("sideEffects"), _NO_EFFECTS)
    if not 1 <= hook["timeoutSeconds"] <= 30:
        says = "the timeout value must be between 1 and 30 seconds"
        yield invalid(f"{path}.timeoutSeconds", hook["timeoutSeconds"], says)
    for key in ("namespaceSelector", "objectSelector"):
        yield from label_selector(f"{path}.{key}", hook.get(key))
    client = child(hook, "clientConfig")
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(f"{path}.clientConfig", "exactly one of url or service is required")
    elif url is not None:
        yield from _url(f"{path}.clientConfig.url", url)
    else:
        yield from _service(f"{path}.clientConfig.service", service or {})
    yield from check_conditions(path, hook)


def _url(path: str, url: str) -> Errors:
    try:
        parts = urlsplit(url)
        if bad := _BAD_ESCAPE.search(url):
            raise ValueError(f'parse "{url}": invalid URL escape "{bad[0]}"')
    except ValueError as error:
        yield required(path, f"url must be a valid URL: {error}{_FORM}")
        return
    if parts.scheme != "https":
        yield invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not parts.netloc:
        yield invalid(path, "", f"host must be specified{_FORM}")
    if "@" in parts.netloc:
        yield invalid(path, parts.netloc.partition("@")[0], "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service(path: str, service: Object) -> Errors:
    # Kubernetes asks for these two in each other's place; the outcome is the same unless one is there.
    for key, shown in (("namespace", "name"), ("name", "namespace")):
        if not service.get(key):
            yield required(f"{path}.{shown}")
    if messages := names.port_number(service.get("port") or 0):
        yield invalid(f"{path}.port", service.get("port") or 0, f"port is not valid: {', '.join(messages)}")
    target = service.get("path") or "/"
    if target == "//":
        yield invalid(f"{path}.path", target, "segment[0] may not be empty")
    elif target != "/":
        if not target.startswith("/"):
            yield invalid(f"{path}.path", target, "must start with a '/'")
        for index, step in enumerate(target[1:].removesuffix("/").split("/")):
            for message in names.dns_subdomain(step) if step else ["may not be empty"]:
                says = f"segment[{index}]{':' if step else ''} {message}"
                yield invalid(f"{path}.path", target, says)


def _review_versions(path: str, versions: list[str]) -> Errors:
    if not versions:
        yield required(path, f"must specify one of {', '.join(_REVIEWS)}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            yield from wrong(f"{path}[{index}]", version, names.dns_1035_label(version))
    if not set(versions) & set(_REVIEWS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_REVIEWS)}")
