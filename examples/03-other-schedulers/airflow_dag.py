"""Airflow: KubernetesPodOperator takes `full_pod_spec`; `queued` is the pod to give it.

KubernetesPodOperator(task_id="train", full_pod_spec=k8s_models(queued(pod, "org1", "{{ dag_run.conf.user }}")))
"""

from __future__ import annotations

from typing import Any

from tidegate.dialects import Submission, render


def queued(pod: dict[str, Any], organisation: str, user: str, scheduler: str = "kueue") -> dict[str, Any]:
    """The pod of a task, in the queue of its organisation."""
    who = Submission(organisation=organisation, user=user, job_type="airflow")
    return dict(render(pod, who, scheduler).object)
