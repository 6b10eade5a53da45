"""Which kinds Kueue knows, and what its own webhooks refuse: said here with what to do, before anything is applied."""

from __future__ import annotations

from tidegate.dialects.draft import Draft
from tidegate.dialects.errors import DialectError
from tidegate.model.jobs import inside
from tidegate.model.problems import Path

MOST_POD_SETS = 18
_INTEGRATED = {
    "Job", "JobSet", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "TrainJob",
    "RayCluster", "RayJob", "RayService", "SparkApplication", "LeaderWorkerSet", "AppWrapper",
    "Deployment", "StatefulSet", "Pod",
}  # fmt: skip
_LISTED = "its integration is not on by default; list it under integrations.frameworks of Kueue's configuration"
OFF_BY_DEFAULT = {
    "SparkApplication": "the integration is alpha; switch its feature gate and framework on in Kueue's configuration",
    **dict.fromkeys(("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"), _LISTED),
}


def is_integrated(draft: Draft) -> bool:
    """Whether Kueue knows the kind, or the kind of what it creates."""
    makes = draft.entry.makes
    return draft.entry.kind in _INTEGRATED or (makes is not None and makes.kind in _INTEGRATED)


def refuse_what_kueue_refuses(draft: Draft) -> None:
    """DialectError where no label could make Kueue take the object."""
    if draft.entry.job_type == "spark":
        _spark(draft, ("spec",) if draft.entry.makes is None else ("spec", "template"))
    if draft.entry.group == "ray.io":
        _ray(draft)
    count = len(draft.shapes)
    if count > MOST_POD_SETS:
        raise DialectError(
            f"the object has {count} pod sets, and Kueue takes at most {MOST_POD_SETS}; merge some of them"
        )


def _spark(draft: Draft, app: Path) -> None:
    spec = inside(draft.obj, app)
    conf = inside(draft.obj, (*app, "sparkConf")).get("spark.dynamicAllocation.enabled", "false")
    if inside(draft.obj, (*app, "dynamicAllocation")).get("enabled") or str(conf).lower() == "true":
        at = ".".join(map(str, app))
        raise DialectError(
            f"{at}.dynamicAllocation is on, and Kueue takes only Spark applications of a fixed size; "
            f"switch it off and set {at}.executor.instances, or keep it and use Tidegate or YuniKorn"
        )
    if str(spec.get("mode", "cluster")).lower() != "cluster":
        raise DialectError(f'the mode is "{spec.get("mode")}", and Kueue takes only cluster mode; set mode to cluster')


def _ray(draft: Draft) -> None:
    if draft.entry.kind == "RayJob":
        spec = inside(draft.obj, ("spec",))
        if spec.get("clusterSelector"):
            raise DialectError(
                "spec.clusterSelector names a running cluster, which Kueue does not queue; "
                "give a rayClusterSpec instead, or submit the RayCluster itself"
            )
        if not spec.get("rayClusterSpec"):
            raise DialectError("spec.rayClusterSpec is missing, so there is nothing for Kueue to queue; add it")
    if any(shape.role == "head" for shape in draft.shapes):
        raise DialectError('a worker group is called "head", which Kueue keeps for the head; give it another name')
