"""The taints a node carries for its conditions."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.controllers.nodes.objects import Node, NodeSpec, NodeStatus
from tidegate.local.controllers.nodes.taints import wanted_taints
from tidegate.local.controllers.objects import Condition, Meta

KEYS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable", "node.kubernetes.io/disk-pressure", "own"]
taints = st.lists(
    st.fixed_dictionaries({"key": st.sampled_from(KEYS), "effect": st.sampled_from(["NoSchedule", "NoExecute"])}),
    max_size=4,
    unique_by=lambda taint: (taint["key"], taint["effect"]),
)
conditions = st.lists(
    st.builds(
        Condition,
        type=st.sampled_from(["Ready", "DiskPressure", "Odd"]),
        status=st.sampled_from(["True", "False", "Unknown"]),
    ),
    max_size=3,
    unique_by=lambda condition: condition.type,
)
nodes = st.builds(
    Node,
    metadata=st.just(Meta(name="n")),
    spec=st.builds(NodeSpec, unschedulable=st.booleans(), taints=taints.map(tuple)),
    status=st.builds(NodeStatus, conditions=conditions.map(tuple)),
)


def of_others(found: list[Any]) -> list[Any]:
    return [taint for taint in found if taint["effect"] != "NoSchedule" or taint["key"] == "own"]


@given(nodes)
def test_taints_of_others_stay_as_they_are(node: Node) -> None:
    assert of_others(wanted_taints(node)) == of_others(list(node.spec.taints))


@given(nodes)
def test_once_set_nothing_more_is_wanted(node: Node) -> None:
    wanted = wanted_taints(node)
    settled = Node(node.metadata, NodeSpec(node.spec.unschedulable, tuple(wanted)), node.status)
    assert wanted_taints(settled) == wanted


@given(nodes)
def test_a_ready_node_that_takes_pods_has_no_taint_of_ours(node: Node) -> None:
    status = NodeStatus((Condition("Ready", "True"),))
    ready = Node(node.metadata, NodeSpec(False, node.spec.taints), status)
    assert wanted_taints(ready) == of_others(list(node.spec.taints))
