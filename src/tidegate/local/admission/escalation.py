"""Nobody can grant what they do not have: roles and bindings are held against the rules of who writes them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.access.access import Access
from tidegate.local.access.rbac import GROUP, Question, Rule, covers
from tidegate.local.access.users import MASTERS
from tidegate.local.admission.attributes import Attributes
from tidegate.local.errors import forbidden, not_found


class Escalation:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def mutate(self, asked: Attributes) -> None:
        """Judges only what would be stored."""

    async def validate(self, asked: Attributes) -> None:
        served = asked.served
        if served.group != GROUP or asked.operation == "DELETE" or asked.obj is None or MASTERS in asked.user.groups:
            return
        if served.kind in ("Role", "ClusterRole"):
            if asked.old and asked.old.get("rules") == asked.obj.get("rules"):
                return
            wanted: Sequence[Rule] | None = _rules(asked.obj)
            verb, target = "escalate", (served.plural, asked.name)
        else:
            if asked.old and _same_grant(asked.old, asked.obj):
                return
            reference = asked.obj["roleRef"]
            wanted = self._access.rbac.rules_of(reference["kind"], reference["name"], asked.namespace)
            plural = "clusterroles" if reference["kind"] == "ClusterRole" else "roles"
            verb, target = "bind", (plural, reference["name"])
        question = Question(verb, GROUP, target[0], "", asked.namespace, target[1])
        if self._access.allowed(asked.user, question):
            return
        if wanted is None:
            # Who makes the role later would give its rights away unasked. Kubernetes, too, names the binding's kind.
            raise not_found(served.group, served.plural, target[1])
        held = self._access.rules_of(asked.user, asked.namespace if served.namespaced else "")
        missing = [rule for rule in wanted if not covers(held, rule)]
        if missing:
            raise forbidden(served.group, served.plural, asked.name, self._why(asked, missing))

    @staticmethod
    def _why(asked: Attributes, missing: list[Rule]) -> str:
        groups = ",".join(f'"{group}"' for group in asked.user.groups)
        lines = "".join(f"\n{_shown(rule)}" for rule in missing)
        who = f'user "{asked.user.name}" (groups=[{groups}])'
        return f"{who} is attempting to grant RBAC permissions not currently held:{lines}"


def _rules(role: Object) -> list[Rule]:
    return msgspec.convert(role.get("rules") or [], list[Rule])


def _same_grant(old: Object, new: Object) -> bool:
    return all(old.get(key) == new.get(key) for key in ("roleRef", "subjects"))


def _shown(rule: Rule) -> str:
    parts = {
        "APIGroups": rule.api_groups,
        "Resources": rule.resources,
        "ResourceNames": rule.resource_names,
        "NonResourceURLs": rule.non_resource_urls,
        "Verbs": rule.verbs,
    }
    said = [f"{name}:{msgspec.json.encode(list(values)).decode()}" for name, values in parts.items() if values]
    return "{" + ", ".join(said) + "}"
