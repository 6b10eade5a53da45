"""MutatingAdmissionPolicy: CEL expressions that change a write.

An expression gives either a configuration to apply (`Object{spec: Object.spec{…}}`) or a list of patches
(`JSONPatch{op: …}`). Both are written with CEL's constructors of typed objects; the types follow from where they stand,
so here they are read as plain maps.
"""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.policies import InForce, Policies, PolicyError, bindings_for, conditions_hold, evaluate
from tidegate.local.admission.versions import converted, viewed
from tidegate.local.apiserver.answers import encode
from tidegate.local.apiserver.registry import Registry
from tidegate.local.crds.cel.constructors import untyped
from tidegate.local.errors import ApiError, forbidden
from tidegate.local.patch import json_patch
from tidegate.local.patch.apply.merge import merged
from tidegate.local.store import Store


class MutatingPolicies:
    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._policies = Policies(store, registry, "mutating")

    async def mutate(self, asked: Attributes) -> None:
        if asked.obj is None:
            return
        for force in list(self._policies.concerned(asked)):
            from tidegate.local.crds.cel.library.authorization import asking

            try:
                with asking(asked.ask):
                    self._change(force, asked)
            except (PolicyError, ApiError) as error:
                if force.fails:
                    binding = force.binding["metadata"]["name"]
                    said = f"policy '{force.name}' with binding '{binding}' denied request: {error}"
                    raise forbidden(asked.served.group, asked.served.plural, asked.name, said) from None

    async def validate(self, asked: Attributes) -> None:
        """Changes only."""

    def _change(self, force: InForce, asked: Attributes) -> None:
        given = bindings_for(self._store, force, asked)
        if not conditions_hold(force, given):
            return
        for mutation in force.spec.get("mutations") or []:
            view = viewed(asked, force.served)
            given["object"] = view.obj
            changed = view.served.decode(encode(_mutated(mutation, view, given)), False).obj
            view.served.strategy.default(changed)
            asked.obj = changed if view is asked else converted(changed, asked.served)


def _mutated(mutation: Object, asked: Attributes, given: dict[str, Any]) -> Any:
    assert asked.obj is not None
    if mutation["patchType"] == "JSONPatch":
        patches = evaluate(untyped(mutation["jsonPatch"]["expression"]), given)
        return json_patch(asked.obj, patches)
    config = evaluate(untyped(mutation["applyConfiguration"]["expression"]), given)
    if not isinstance(config, dict):
        raise PolicyError("the applyConfiguration expression does not give an Object")
    return merged(asked.obj, config, asked.served.schema)
