"""RBAC: the rules that roles grant, found by who is bound to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from tidegate.local.access.users import User
from tidegate.local.store import Kept, Store

GROUP = "rbac.authorization.k8s.io"
_PLURALS = ("roles", "clusterroles", "rolebindings", "clusterrolebindings")


Subject = tuple[str, str]
"""A user or group: its sort and name."""


class Rule(msgspec.Struct, rename="camel", frozen=True):
    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = msgspec.field(default=(), name="nonResourceURLs")


class _Subject(msgspec.Struct):
    kind: str
    name: str
    namespace: str = ""


class _Ref(msgspec.Struct):
    kind: str
    name: str


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""


class _Role(msgspec.Struct):
    metadata: _Meta
    rules: tuple[Rule, ...] | None = None


class _Binding(msgspec.Struct, rename="camel"):
    metadata: _Meta
    role_ref: _Ref
    subjects: list[_Subject] | None = None


_role = msgspec.json.Decoder(_Role).decode
_binding = msgspec.json.Decoder(_Binding).decode


class Question(msgspec.Struct, frozen=True):
    """What somebody wants to do: with a resource, or with a path that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def full_resource(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def allows(rule: Rule, question: Question) -> bool:
    if "*" not in rule.verbs and question.verb not in rule.verbs:
        return False
    if question.path:
        return any(_path_matches(pattern, question.path) for pattern in rule.non_resource_urls)
    if "*" not in rule.api_groups and question.group not in rule.api_groups:
        return False
    if not any(_resource_matches(pattern, question) for pattern in rule.resources):
        return False
    return not rule.resource_names or question.name in rule.resource_names


def _resource_matches(pattern: str, question: Question) -> bool:
    if pattern in ("*", question.full_resource):
        return True
    return bool(question.subresource) and pattern == f"*/{question.subresource}"


def _path_matches(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))


@dataclass(frozen=True, slots=True)
class Grant:
    """A rule somebody has, in one namespace or (empty) in all, and by which binding."""

    rule: Rule
    namespace: str
    because: str


class Rbac:
    """Roles and bindings, indexed by subject; read again when one of them has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        buckets = tuple(f"{GROUP}/{plural}/" for plural in _PLURALS)
        self._by_subject = Kept(store, buckets, self._read)

    def grants(self, user: User, namespace: str | None = None) -> Iterator[Grant]:
        """What `user` has been granted: everywhere, and in `namespace` (None: in any)."""
        by_subject = self._by_subject()
        keys = [("User", user.name), *(("Group", group) for group in user.groups)]
        for key in keys:
            for grant in by_subject.get(key, ()):
                if not grant.namespace or namespace is None or grant.namespace == namespace:
                    yield grant

    def find(self, user: User, question: Question) -> Grant | None:
        """The grant by which `user` may do what is asked, if there is one."""
        for grant in self.grants(user, question.namespace):
            if question.path and grant.namespace:
                continue
            if allows(grant.rule, question):
                return grant
        return None

    def rules_of(self, kind: str, name: str, namespace: str) -> tuple[Rule, ...] | None:
        """None where there is no such role."""
        plural = "clusterroles" if kind == "ClusterRole" else "roles"
        where = name if kind == "ClusterRole" else f"{namespace}/{name}"
        row = self._store.newest(f"{GROUP}/{plural}/{where}")
        if row is None:
            return None
        return _role(row.value).rules or ()

    def _read(self) -> dict[Subject, list[Grant]]:
        found: dict[Subject, list[Grant]] = {}
        for plural in ("clusterrolebindings", "rolebindings"):
            for row in self._store.range(f"{GROUP}/{plural}/"):
                self._index(_binding(row.value), found)
        return found

    def _index(self, binding: _Binding, found: dict[Subject, list[Grant]]) -> None:
        namespace = binding.metadata.namespace
        rules = self.rules_of(binding.role_ref.kind, binding.role_ref.name, namespace) or ()
        for subject in binding.subjects or []:
            kind, name = subject.kind, subject.name
            if kind == "ServiceAccount":
                kind, name = "User", f"system:serviceaccount:{subject.namespace or namespace}:{name}"
            sort = "RoleBinding" if namespace else "ClusterRoleBinding"
            where = f"{binding.metadata.name}/{namespace}" if namespace else binding.metadata.name
            to = f'{subject.kind} "{subject.name}{"/" + subject.namespace if subject.namespace else ""}"'
            because = f'RBAC: allowed by {sort} "{where}" of {binding.role_ref.kind} "{binding.role_ref.name}" to {to}'
            found.setdefault((kind, name), []).extend([Grant(rule, namespace, because) for rule in rules])


def covers(held: list[Rule], wanted: Rule) -> bool:
    """Whether what is held allows everything that is wanted: nobody may grant more than they have."""
    for verb in wanted.verbs:
        for path in wanted.non_resource_urls:
            if not any(_covers_path(rule, verb, path) for rule in held):
                return False
        for group in wanted.api_groups:
            for resource in wanted.resources:
                for name in wanted.resource_names or ("",):
                    if not any(_covers_one(rule, verb, group, resource, name) for rule in held):
                        return False
    return True


def _covers_path(rule: Rule, verb: str, path: str) -> bool:
    if "*" not in rule.verbs and verb not in rule.verbs:
        return False
    return any(_path_matches(pattern, path) for pattern in rule.non_resource_urls)


def _covers_one(rule: Rule, verb: str, group: str, resource: str, name: str) -> bool:
    if "*" not in rule.verbs and verb not in rule.verbs:
        return False
    if "*" not in rule.api_groups and group not in rule.api_groups:
        return False
    if "*" not in rule.resources and resource not in rule.resources:
        _, slash, sub = resource.partition("/")
        if not slash or f"*/{sub}" not in rule.resources:
            return False
    return not rule.resource_names or (bool(name) and name in rule.resource_names)
