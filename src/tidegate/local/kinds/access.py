"""The kinds of rbac.authorization.k8s.io: who may do what."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, default, items, maybe_one_of, name_of, needs, same, wrong
from tidegate.local.kinds.selectors import label_selector

GROUP = "rbac.authorization.k8s.io"


class _Rules(BuiltIn):
    name_form = staticmethod(names.path_segment)
    creates_on_update = True


class Role(_Rules):
    namespaced = True

    def check(self, obj: Object) -> Errors:
        for index, rule in enumerate(obj.get("rules") or ()):
            yield from _rule(f"rules[{index}]", rule, self.namespaced)


class ClusterRole(Role):
    namespaced = False

    def check(self, obj: Object) -> Errors:
        yield from super().check(obj)
        if (aggregation := obj.get("aggregationRule")) is not None:
            if not aggregation.get("clusterRoleSelectors"):
                says = "at least one clusterRoleSelector required if aggregationRule is non-nil"
                yield required("aggregationRule.clusterRoleSelectors", says)
            for at, selector in items(aggregation, "clusterRoleSelectors", "aggregationRule"):
                errors: list[FieldError] = list(label_selector(at, selector))
                yield from errors
                if errors:
                    yield invalid(at, selector, "invalid label selector.")


def _rule(path: str, rule: Object, namespaced: bool) -> Errors:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    if urls := rule.get("nonResourceURLs"):
        if namespaced:
            yield invalid(f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs")
        if any(rule.get(key) for key in ("apiGroups", "resources", "resourceNames")):
            says = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, says)
        return
    for key, called in (("apiGroups", "api group"), ("resources", "resource")):
        if not rule.get(key):
            yield required(f"{path}.{key}", f"resource rules must supply at least one {called}")


class RoleBinding(_Rules):
    roles: tuple[str, ...] = ("Role", "ClusterRole")

    def default(self, obj: Object) -> None:
        default(obj.setdefault("roleRef", {}), apiGroup=GROUP)
        for subject in obj.get("subjects") or ():
            if subject.get("kind") in ("User", "Group"):
                default(subject, apiGroup=GROUP)

    def check(self, obj: Object) -> Errors:
        ref = child(obj, "roleRef")
        yield from maybe_one_of("roleRef.apiGroup", ref.get("apiGroup") or "", (GROUP,))
        yield from maybe_one_of("roleRef.kind", ref.get("kind") or "", self.roles)
        yield from name_of("roleRef.name", ref.get("name") or "", names.path_segment)
        for index, subject in enumerate(obj.get("subjects") or ()):
            yield from _subject(f"subjects[{index}]", subject, namespaced=len(self.roles) == 2)

    def check_update(self, obj: Object, old: Object) -> Errors:
        if not same(obj.get("roleRef"), old.get("roleRef")):
            yield invalid("roleRef", obj.get("roleRef"), "cannot change roleRef")


class ClusterRoleBinding(RoleBinding):
    roles = ("ClusterRole",)


def _subject(path: str, subject: Object, *, namespaced: bool) -> Errors:
    kind, name, group = subject.get("kind") or "", subject.get("name") or "", subject.get("apiGroup") or ""
    yield from needs(path, subject, "name")
    if kind == "ServiceAccount":
        if name:
            yield from wrong(f"{path}.name", name, names.dns_subdomain(name))
        yield from maybe_one_of(f"{path}.apiGroup", group, ("",))
        if not namespaced:
            yield from needs(path, subject, "namespace")
    elif kind in ("User", "Group"):
        yield from maybe_one_of(f"{path}.apiGroup", group, (GROUP,))
    else:
        yield not_supported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))
