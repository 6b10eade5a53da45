"""Airflow: KubernetesPodOperator takes a pod as a dict, and `queued` gives it one that is in a queue.

    containers = [{"name": "base", "image": "python:3.13", "command": ["python", "train.py"]}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": {"containers": containers}}
    KubernetesPodOperator(task_id="train", pod_template_dict=queued(pod, "org1", "anna"))

Airflow's own container is called `base`. Older providers have no `pod_template_dict`; write the same to a file for
`pod_template_file`.
"""

from __future__ import annotations

from typing import Any

from tidegate.dialects import Submission, render


def queued(pod: dict[str, Any], organisation: str, user: str, scheduler: str = "kueue") -> dict[str, Any]:
    """The pod of a task, in the queue of its organisation."""
    who = Submission(organisation=organisation, user=user, job_type="airflow")
    return dict(render(pod, who, scheduler).object)
