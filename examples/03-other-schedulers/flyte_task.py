"""Flyte: the pod template of a task, and the custom resource a plugin builds, for whichever scheduler the cluster has.

In a workflow file:

    @task(pod_template=PodTemplate(pod_spec=V1PodSpec(...), labels=..., annotations=...))

takes the three parts that `pod_template` gives; a backend plugin that builds a RayJob or a SparkApplication calls
`custom_resource` on it before it is created.
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


def submission(org: str, user: str, resource_type: str, execution: str, job_type: str = "") -> Submission:
    """Flyte's identifiers in Tidegate's words."""
    return Submission(organisation=org, user=user, resource_type=resource_type, id=execution, job_type=job_type)


def pod_template(pod_spec: dict[str, Any], who: Submission) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """Pod spec, labels and annotations of a task's PodTemplate."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": who.id}, "spec": pod_spec}
    done = render(pod, who, CONFIG).object
    return done["spec"], done["metadata"].get("labels", {}), done["metadata"].get("annotations", {})


def custom_resource(resource: dict[str, Any], who: Submission) -> list[dict[str, Any]]:
    """Everything to create for a custom resource, in order."""
    return [dict(obj) for obj in render(resource, who, CONFIG).objects]
