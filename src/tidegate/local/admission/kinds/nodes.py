"""A new node takes no pods until somebody has seen that it is ready."""

from __future__ import annotations

from tidegate.local.admission.attributes import Attributes

NOT_READY = "node.kubernetes.io/not-ready"


class NewNodes:
    async def mutate(self, asked: Attributes) -> None:
        is_node = not asked.served.group and asked.served.plural == "nodes" and not asked.subresource
        if not is_node or asked.operation != "CREATE" or asked.obj is None:
            return
        taints = asked.obj["spec"].setdefault("taints", [])
        if not any(taint.get("key") == NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints):
            taints.append({"key": NOT_READY, "effect": "NoSchedule"})

    async def validate(self, asked: Attributes) -> None:
        """Nothing is refused here."""
