"""Flyte: the pod template of a task, and the custom resource a plugin builds, for whichever scheduler the cluster has.

In a workflow file, where flytekit and the kubernetes client are installed:

    spec, labels, annotations = pod_template({"containers": [{"name": "primary"}]}, who)
    template = PodTemplate(
        primary_container_name="primary",
        pod_spec=V1PodSpec(containers=[V1Container(name="primary")], scheduler_name=spec.get("schedulerName")),
        labels=labels,
        annotations=annotations,
    )

    @task(pod_template=template)
    def train() -> None: ...

A template is fixed when the task is registered, so its submission names no execution. A backend plugin that builds a
RayJob or a SparkApplication for an execution knows it, and calls `custom_resource` before the object is created.
"""

from __future__ import annotations

from typing import Any

from tidegate.dialects import Submission, render

CONFIG = {
    "queueconfig": {
        "scheduler": "yunikorn",
        "jobs": [{"type": "ray", "gangscheduling": "placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard"}],
    }
}


def submission(org: str, user: str, resource_type: str, execution: str = "", job_type: str = "") -> Submission:
    """Flyte's identifiers in Tidegate's words; a resource type like LAUNCH_PLAN may stay as it is."""
    return Submission(organisation=org, user=user, resource_type=resource_type, id=execution, job_type=job_type)


def pod_template(pod_spec: dict[str, Any], who: Submission) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """Pod spec, labels and annotations of a task's PodTemplate."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": who.id or "task"}, "spec": pod_spec}
    done = render(pod, who, CONFIG).object
    return done["spec"], done["metadata"].get("labels", {}), done["metadata"].get("annotations", {})


def custom_resource(resource: dict[str, Any], who: Submission) -> list[dict[str, Any]]:
    """Everything to create for a custom resource, in order."""
    return [dict(obj) for obj in render(resource, who, CONFIG).objects]
