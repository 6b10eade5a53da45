"""What happens to pods when their node falls silent or vanishes.

`lifecycle.py`: a node whose Lease is stale becomes Ready=Unknown and its pods unready. Nothing is evicted from it: on
one machine a silent agent comes back and adopts its running processes, and deleting their pods would be a lie. Eviction
by taints and tolerations, which a cluster of many machines needs, is deliberately left out.
`taints.py`: a node's conditions as taints, which new pods heed.
`pod_gc.py`: pods of a node that no longer exists, ended pods beyond a threshold, and unscheduled pods on their way out.
"""
