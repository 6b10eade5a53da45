"""Nodes and their Leases as controllers see them."""

from __future__ import annotations

from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.objects import Condition, Meta, Struct

LEASE_NAMESPACE = "kube-node-lease"


class NodeStatus(Struct, frozen=True):
    conditions: tuple[Condition, ...] = ()


class NodeSpec(Struct, frozen=True):
    unschedulable: bool = False
    taints: tuple[Object, ...] = ()


class Node(Struct, frozen=True):
    metadata: Meta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class LeaseSpec(Struct, frozen=True):
    renew_time: str = ""


class Lease(Struct, frozen=True):
    metadata: Meta
    spec: LeaseSpec = LeaseSpec()


NODES = Resource("", "v1", "nodes", "Node", namespaced=False, type=Node)
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", type=Lease)
