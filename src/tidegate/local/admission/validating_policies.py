"""ValidatingAdmissionPolicy: CEL expressions that judge a write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.policies import InForce, Policies, PolicyError, bindings_for, conditions_hold, evaluate
from tidegate.local.apiserver.registry import Registry
from tidegate.local.errors import ApiError, forbidden
from tidegate.local.store import Store

_CODES = {"Invalid": 422, "Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413}


@dataclass(frozen=True, slots=True)
class Objection:
    message: str
    reason: str = "Invalid"


class ValidatingPolicies:
    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._policies = Policies(store, registry, "validating")

    async def mutate(self, asked: Attributes) -> None:
        """Judges only."""

    async def validate(self, asked: Attributes) -> None:
        for force in self._policies.concerned(asked):
            from tidegate.local.crds.cel.library.authorization import asking

            with asking(asked.ask):
                objections = list(self._objections(force, asked))
            for objection in objections:
                said = f"ValidatingAdmissionPolicy '{force.name}' with binding '{force.binding['metadata']['name']}'"
                said = f"{said} denied request: {objection.message}"
                actions = force.binding["spec"].get("validationActions") or ["Deny"]
                if "Deny" in actions:
                    raise _refusal(asked, objection, said)
                if "Warn" in actions:
                    asked.warnings.append(f"Validation failed for {said.replace(' denied request', '')}")

    def _objections(self, force: InForce, asked: Attributes) -> Iterator[Objection]:
        given = bindings_for(self._store, force, asked)
        try:
            if not conditions_hold(force, given):
                return
        except PolicyError as error:
            if force.fails:
                yield Objection(str(error))
            return
        for validation in force.spec.get("validations") or []:
            try:
                if evaluate(validation["expression"], given) is not True:
                    yield Objection(_message(validation, given), validation.get("reason") or "Invalid")
            except PolicyError as error:
                if force.fails:
                    yield Objection(str(error))


def _message(validation: Object, given: dict[str, Any]) -> str:
    if text := validation.get("messageExpression"):
        try:
            said = evaluate(text, given)
        except PolicyError:
            said = None
        if isinstance(said, str) and said.strip() and "\n" not in said:
            return said.strip()
    message = (validation.get("message") or "").strip()
    return message or f"failed expression: {validation['expression'].strip()}"


def _refusal(asked: Attributes, objection: Objection, said: str) -> ApiError:
    error = forbidden(asked.served.group, asked.served.plural, asked.name, said)
    error.code, error.reason = _CODES.get(objection.reason, 422), objection.reason
    error.details = (error.details or {}) | {"causes": [{"message": said}]}
    return error
