"""Deployments: ReplicaSets that succeed each other.

`revisions.py` knows which ReplicaSet is which revision, `rollout.py` how many replicas each gets next, `progress.py`
what the status says of it; `plan.py` tells the story, `controller.py` applies it.
"""
