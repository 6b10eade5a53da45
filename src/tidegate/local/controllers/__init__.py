"""The few controllers a laptop needs, each a pure planner and a thin shell that applies its plans.

Planners (`plan.py`, `rollout.py`, `quota_usage.py` …) take objects and `now` and return what to do: no clock, no I/O,
no async. Shells (`controller.py`) read the shared caches, call their planner, and write through `tidegate.kube`'s
client, so they work against any API server and cannot tell which one it is. What a shell has written and its cache does
not show yet is kept in `Expectations`, so that a stale cache never makes twice the pods.

Owner garbage collection and namespace deletion belong to the API server's side and are not here; nor is anything about
queues.
"""
