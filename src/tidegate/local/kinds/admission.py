"""The kinds of admissionregistration.k8s.io: webhooks and policies that judge other writes.

CEL expressions are asked for but not compiled here: this layer has no CEL.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required, too_many
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, name_of, needs, one_of, wrong
from tidegate.local.kinds.selectors import label_selector

_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_FAILURES = ("Fail", "Ignore")
_MATCHES = ("Equivalent", "Exact")
_NO_EFFECTS = ("None", "NoneOnDryRun")
_REVIEWS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"
_ONE_ITEM = "validations or auditAnnotations must contain at least one item"


class _Judge(BuiltIn):
    generates_generation = True
    unconditional_update = False
    any_finalizer = True


def _default_matching(owner: Object) -> None:
    owner["matchPolicy"] = "Equivalent" if owner.get("matchPolicy") is None else owner["matchPolicy"]
    for key in ("namespaceSelector", "objectSelector"):
        owner[key] = {} if owner.get(key) is None else owner[key]


def _default_rules(owner: Object, *keys: str) -> None:
    for key in keys:
        for rule in owner.get(key) or ():
            rule["scope"] = "*" if rule.get("scope") is None else rule["scope"]


class ValidatingWebhookConfiguration(_Judge):
    reinvokes = False

    def default(self, obj: Object) -> None:
        for hook in obj.get("webhooks") or ():
            _default_matching(hook)
            _default_rules(hook, "rules")
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
        yield from _rule(at, rule)
    yield from maybe_one_of(f"{path}.failurePolicy", hook.get("failurePolicy"), _FAILURES)
    yield from maybe_one_of(f"{path}.matchPolicy", hook.get("matchPolicy"), _MATCHES)
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
    yield from _conditions(path, hook)


def _url(path: str, url: str) -> Errors:
    try:
        parts = urlsplit(url)
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


def _alone(path: str, values: list[str], called: str) -> Errors:
    if len(values) > 1 and "*" in values:
        yield invalid(path, values, f"if '*' is present, must not specify other {called}")


def _rule(path: str, rule: Object) -> Errors:
    for key, called in (("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")):
        if not rule.get(key):
            yield required(f"{path}.{key}")
        yield from _alone(f"{path}.{key}", rule.get(key) or [], called)
    for at, operation in items(rule, "operations", path):
        yield from maybe_one_of(at, operation, _OPERATIONS)
    for at, version in items(rule, "apiVersions", path):
        if not version:
            yield required(at)
    yield from _resources(path, rule)
    yield from maybe_one_of(f"{path}.scope", rule.get("scope"), ("*", "Cluster", "Namespaced"))


def _resources(path: str, rule: Object) -> Errors:
    resources = rule.get("resources") or []
    if not resources:
        yield required(f"{path}.resources")
    all_below: set[str] = set()
    everywhere: set[str] = set()
    bare = False
    for at, name in items(rule, "resources", path):
        if not name:
            yield required(at)
            continue
        whole, slash, part = name.partition("/")
        if not slash:
            bare = name != "*"
            continue
        if whole in all_below:
            yield invalid(at, name, f"if '{whole}/*' is present, must not specify {name}")
        if part in everywhere:
            yield invalid(at, name, f"if '*/{part}' is present, must not specify {name}")
        all_below |= {whole} if part == "*" else set()
        everywhere |= {part} if whole == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(f"{path}.resources", resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and bare:
        says = "if '*' is present, must not specify other resources without subresources"
        yield invalid(f"{path}.resources", resources, says)


def _conditions(path: str, owner: Object) -> Errors:
    conditions = owner.get("matchConditions") or []
    if len(conditions) > 64:
        yield too_many(f"{path}.matchConditions", len(conditions), 64)
    seen: set[str] = set()
    for at, condition in items(owner, "matchConditions", path):
        name = condition.get("name") or ""
        if not (condition.get("expression") or "").strip():
            yield required(f"{at}.expression")
        yield from name_of(f"{at}.name", name, names.qualified_name)
        if name and name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)


class ValidatingAdmissionPolicy(_Judge):
    has_status = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["failurePolicy"] = "Fail" if spec.get("failurePolicy") is None else spec["failurePolicy"]
        if (constraints := spec.get("matchConstraints")) is not None:
            _default_matching(constraints)
            _default_rules(constraints, "resourceRules", "excludeResourceRules")

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from self._shared(spec)
        if not spec.get("validations") and not spec.get("auditAnnotations"):
            yield required("spec.validations", _ONE_ITEM)
            yield required("spec.auditAnnotations", _ONE_ITEM)
        for at, validation in items(spec, "validations", "spec"):
            if not (validation.get("expression") or "").strip():
                yield required(f"{at}.expression", "expression is not specified")
            reasons = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
            yield from maybe_one_of(f"{at}.reason", validation.get("reason"), reasons)

    def _shared(self, spec: Object) -> Errors:
        yield from maybe_one_of("spec.failurePolicy", spec.get("failurePolicy"), _FAILURES)
        if (kind := spec.get("paramKind")) is not None:
            yield from _param_kind("spec.paramKind", kind)
        if (constraints := spec.get("matchConstraints")) is None:
            yield required("spec.matchConstraints")
        else:
            yield from _constraints("spec.matchConstraints", constraints)
            yield from needs("spec.matchConstraints", constraints, "resourceRules")
        yield from _conditions("spec", spec)
        for at, variable in items(spec, "variables", "spec"):
            if not (variable.get("name") or "").strip():
                yield required(f"{at}.name", "name is not specified")
            elif names.c_identifier(variable["name"]):
                yield invalid(f"{at}.name", variable["name"], "must be a valid CEL identifier")
            if not (variable.get("expression") or "").strip():
                yield required(f"{at}.expression", "expression is not specified")


class MutatingAdmissionPolicy(ValidatingAdmissionPolicy):
    has_status = False

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from self._shared(spec)
        if not spec.get("mutations"):
            yield required("spec.mutations", "mutations must contain at least one item")
        for at, mutation in items(spec, "mutations", "spec"):
            sort = mutation.get("patchType")
            yield from one_of(f"{at}.patchType", sort, ("ApplyConfiguration", "JSONPatch"))
        policy = spec.get("reinvocationPolicy")
        yield from one_of("spec.reinvocationPolicy", policy, ("IfNeeded", "Never"))


def _constraints(path: str, constraints: Object) -> Errors:
    yield from maybe_one_of(f"{path}.matchPolicy", constraints.get("matchPolicy"), _MATCHES)
    for key in ("namespaceSelector", "objectSelector"):
        yield from label_selector(f"{path}.{key}", constraints.get(key))
    for key in ("resourceRules", "excludeResourceRules"):
        for at, rule in items(constraints, key, path):
            seen: set[str] = set()
            for name_at, name in items(rule, "resourceNames", at):
                yield from wrong(name_at, name, names.path_segment(name))
                if name in seen:
                    yield duplicate(name_at, name)
                seen.add(name)
            yield from _rule(at, rule)


def _param_kind(path: str, param: Object) -> Errors:
    version, kind = param.get("apiVersion") or "", param.get("kind") or ""
    if not version:
        yield required(f"{path}.apiVersion")
    elif version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    else:
        group, _, name = version.rpartition("/")
        if group and (messages := names.dns_subdomain(group)):
            yield invalid(f"{path}.apiVersion", group, ",".join(messages))
        if messages := names.dns_1035_label(name):
            yield invalid(f"{path}.apiVersion", name, ",".join(messages))
    if not kind:
        yield required(f"{path}.kind")
    elif messages := names.dns_1035_label(kind.lower()):
        says = f"may have mixed case, but should otherwise match: {','.join(messages)}"
        yield invalid(f"{path}.kind", kind, says)


class ValidatingAdmissionPolicyBinding(_Judge):
    def default(self, obj: Object) -> None:
        if (resources := child(obj, "spec").get("matchResources")) is not None:
            _default_matching(resources)
            _default_rules(resources, "resourceRules", "excludeResourceRules")

    def check(self, obj: Object) -> Errors:
        yield from self._shared(obj)
        spec = child(obj, "spec")
        actions = spec.get("validationActions") or []
        for at, action in items(spec, "validationActions", "spec"):
            if action not in ("Audit", "Deny", "Warn"):
                yield not_supported(at, action, ("Audit", "Deny", "Warn"))
        for index, action in enumerate(actions):
            if action in actions[:index]:
                yield duplicate(f"spec.validationActions[{index}]", action)
        if {"Deny", "Warn"} <= set(actions):
            why = "repeating the same validation failure information in the API response and headers serves no purpose"
            yield invalid("spec.validationActions", actions, f"must not contain both Deny and Warn ({why})")
        if not actions:
            yield required("spec.validationActions", "at least one validation action is required")

    def _shared(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from name_of("spec.policyName", spec.get("policyName") or "", names.dns_subdomain)
        if (param := spec.get("paramRef")) is not None:
            yield from _param_ref("spec.paramRef", param)
        if (resources := spec.get("matchResources")) is not None:
            yield from _constraints("spec.matchResources", resources)


class MutatingAdmissionPolicyBinding(ValidatingAdmissionPolicyBinding):
    def check(self, obj: Object) -> Errors:
        yield from self._shared(obj)


def _param_ref(path: str, param: Object) -> Errors:
    if param.get("name") and param.get("selector") is not None:
        for key, other in (("name", "selector"), ("selector", "name")):
            yield forbidden_field(f"{path}.{key}", f"name and selector are mutually exclusive: {other} is set")
    elif not param.get("name") and param.get("selector") is None:
        yield required(path, "one of name or selector must be specified")
    yield from one_of(f"{path}.parameterNotFoundAction", param.get("parameterNotFoundAction"), ("Allow", "Deny"))
