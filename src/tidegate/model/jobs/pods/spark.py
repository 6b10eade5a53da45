"""A Spark pod's requests, computed as Spark and its operator compute them: memory is heap and overhead and, for
executors, what Python and off-heap storage take; in whole mebibytes, rounded down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tidegate.model.jobs.language.paths import JobError, Obj, mapping
from tidegate.model.jobs.pods.requests import amounts, container_requests
from tidegate.model.problems import Path
from tidegate.model.quantity import NANO
from tidegate.model.resources import NOTHING, Resources

_MEMORY = re.compile(r"([0-9]+)([a-z]+)?")
_KUBERNETES = re.compile(r"([0-9]+)([KMGTP])i")
_UNITS = {"b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
_MIB = 2**20
_LEAST_OVERHEAD = 384 * _MIB
_JVM = ("Java", "Scala")


@dataclass(frozen=True, slots=True)
class SparkRequests:
    """What one pod of a role requests, and the same in the notation Spark's operator uses."""

    requests: Resources
    written: Mapping[str, str]


def spark_requests(app: Obj, role: str, path: Path) -> SparkRequests:
    """Requests of the driver or of one executor of the application whose spec is `app`."""
    at = (*path, role)
    pod = mapping(app.get(role), at)
    cpu = str(pod.get("coreRequest") or pod.get("cores") or "1")
    memory_mib = _memory_bytes(app, pod, role, path) // _MIB
    base = amounts({"cpu": cpu}, (*at, "coreRequest")) + Resources({"memory": memory_mib * _MIB * NANO})
    extra = _beside(pod, at)
    written = {"cpu": cpu, "memory": f"{memory_mib}Mi"}
    total = base + extra
    return SparkRequests(
        total, total.quantities() | {name: text for name, text in written.items() if name not in extra}
    )


def _beside(pod: Obj, path: Path) -> Resources:
    """GPUs and sidecars, which stand beside Spark's own memory and cores."""
    gpu = mapping(pod.get("gpu"), (*path, "gpu"))
    gpus = amounts({gpu["name"]: gpu.get("quantity", 0)}, (*path, "gpu")) if gpu.get("name") else NOTHING
    return gpus + container_requests({"containers": pod.get("sidecars")}, (*path, "sidecars"))


def _memory_bytes(app: Obj, pod: Obj, role: str, path: Path) -> int:
    at, conf = (*path, role), mapping(app.get("sparkConf"), (*path, "sparkConf"))
    heap = memory_bytes(pod.get("memory") or conf.get(f"spark.{role}.memory") or "1g", (*at, "memory"))
    if (stated := pod.get("memoryOverhead")) is not None:
        total = heap + memory_bytes(stated, (*at, "memoryOverhead"))
    else:
        total = heap + max(int(heap * _factor(app, path)), _LEAST_OVERHEAD)
    if role == "executor":
        total += _python(app, conf, path) + _off_heap(conf, path)
    return total


def _factor(app: Obj, path: Path) -> Fraction:
    stated = app.get("memoryOverheadFactor")
    if stated is None:
        return Fraction(1, 10) if app.get("type") in _JVM else Fraction(4, 10)
    try:
        factor = Fraction(str(stated))
    except (ValueError, ZeroDivisionError):
        factor = Fraction(-1)
    if factor < 0:
        at = (*path, "memoryOverheadFactor")
        raise JobError(at, f'"{stated}" is not a factor; write a decimal number in quotes, e.g. "0.1"')
    return factor


def _python(app: Obj, conf: Obj, path: Path) -> int:
    stated = conf.get("spark.executor.pyspark.memory")
    if stated is None or app.get("type") != "Python":
        return 0
    text = f"{stated}m" if str(stated).isdigit() else stated
    return memory_bytes(text, (*path, "sparkConf", "spark.executor.pyspark.memory"))


def _off_heap(conf: Obj, path: Path) -> int:
    if str(conf.get("spark.memory.offHeap.enabled", "false")).lower() == "false":
        return 0
    return memory_bytes(conf.get("spark.memory.offHeap.size", 0), (*path, "sparkConf", "spark.memory.offHeap.size"))


def memory_bytes(stated: Any, path: Path) -> int:
    """Bytes in Java's notation: 512m, 2g, or a plain number of bytes. Kubernetes' 1Gi is understood as well, as by
    operators that reserve gangs, although Spark itself refuses it."""
    found = _KUBERNETES.fullmatch(str(stated))
    if found:
        return int(found[1]) << (10 * _UNITS[found[2].lower()])
    found = _MEMORY.fullmatch(str(stated).lower())
    if not found or (found[2] or "b") not in _UNITS:
        raise JobError(path, f'"{stated}" is not memory as Spark writes it; write a whole number like 512m or 2g')
    return int(found[1]) << (10 * _UNITS[found[2] or "b"])
