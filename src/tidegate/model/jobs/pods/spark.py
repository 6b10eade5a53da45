"""A Spark pod's requests, computed as Spark and its operator compute them: memory is heap and overhead and, for
executors, what Python and off-heap storage take; in whole mebibytes, rounded down. Where the application has no field
for something, what `sparkConf` says of it counts. What stands beside and before Spark's own container is in the pod's
template, if it has one, and else in fields of the role: its operator puts no field into pods that have a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tidegate.model.jobs.language.paths import JobError, Obj, mapping, sequence
from tidegate.model.jobs.pods.requests import amounts, container_requests, pod_requests
from tidegate.model.problems import Path
from tidegate.model.quantity import NANO
from tidegate.model.resources import NOTHING, Resources

_MEMORY = re.compile(r"([0-9]+)([a-z]+)?")
_KUBERNETES = re.compile(r"([0-9]+)([KMGTP])i")
_UNITS = {"b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
_MIB = 2**20
_LEAST_OVERHEAD = 384 * _MIB
_JVM = ("Java", "Scala")
_OWN = ("cpu", "memory")
"""What Spark itself says of its container, whatever the template does."""


@dataclass(frozen=True, slots=True)
class SparkRequests:
    """What one pod of a role requests, and the same in the notation Spark's operator uses."""

    requests: Resources
    written: Mapping[str, str]
    containers: Resources
    """Without what runs before Spark's own container."""


def spark_requests(app: Obj, role: str, path: Path) -> SparkRequests:
    """Requests of the driver or of one executor of the application whose spec is `app`."""
    cores = _cores(app, role, path)
    memory_mib = _memory_bytes(app, role, path) // _MIB
    *above, field = cores.path
    cpu = amounts({str(field): str(cores.value)}, tuple(above)).of(str(field))
    base = Resources({"cpu": cpu, "memory": memory_mib * _MIB * NANO})
    own = base + _devices(app, role, path)
    pod, at = mapping(app.get(role), (*path, role)), (*path, role)
    total, containers = _in_template(pod, role, at, own) if pod.get("template") else _in_fields(pod, at, own)
    written = {"cpu": str(cores.value), "memory": f"{memory_mib}Mi"}
    same = {name: text for name, text in written.items() if total.of(name) == base.of(name)}
    return SparkRequests(total, total.quantities() | same, containers)


def _in_fields(pod: Obj, path: Path, own: Resources) -> tuple[Resources, Resources]:
    """What the pod takes, and its containers alone, where fields of the role say what stands beside Spark's own."""
    gpu = mapping(pod.get("gpu"), (*path, "gpu"))
    gpus = amounts({str(gpu["name"]): gpu.get("quantity", 0)}, (*path, "gpu")) if gpu.get("name") else NOTHING
    containers = own.upper(gpus) + container_requests(pod, path, "sidecars")
    return pod_requests({"initContainers": pod.get("initContainers")}, path, beside=containers), containers


def _in_template(pod: Obj, role: str, path: Path, own: Resources) -> tuple[Resources, Resources]:
    """The same where its template does. Spark's container is the one its operator names, or else the first."""
    at = (*path, "template", "spec")
    spec = mapping(mapping(pod.get("template"), at[:-1]).get("spec"), at)
    inside = (*at, "containers")
    listed = [mapping(each, (*inside, index)) for index, each in enumerate(sequence(spec.get("containers"), inside))]
    names = [each.get("name") for each in listed]
    main = names.index(f"spark-kubernetes-{role}") if f"spark-kubernetes-{role}" in names else 0
    if listed:
        others = _others(listed[main].get("resources"), (*inside, main, "resources"))
        listed[main] = {**listed[main], "resources": others}
    spec = {**spec, "containers": listed}
    return pod_requests(spec, at, beside=own), container_requests(spec, at) + own


def _others(resources: Any, path: Path) -> Obj:
    stated = mapping(resources, path)
    return {
        field: {name: amount for name, amount in mapping(stated.get(field), (*path, field)).items() if name not in _OWN}
        for field in ("requests", "limits")
    }


def _devices(app: Obj, role: str, path: Path) -> Resources:
    """What the settings ask for by vendor and name, such as GPUs."""
    at = (*path, "sparkConf")
    conf = mapping(app.get("sparkConf"), at)
    found = NOTHING
    for key, amount in conf.items():
        named = re.fullmatch(rf"spark\.{role}\.resource\.([^.]+)\.amount", str(key))
        vendor = named and conf.get(f"spark.{role}.resource.{named[1]}.vendor")
        if named and vendor:
            found += Resources({f"{vendor}/{named[1]}": amounts({key: amount}, at).of(key)})
    return found


@dataclass(frozen=True, slots=True)
class _Said:
    """A setting, and where it is."""

    value: Any
    path: Path


def spark_cores(app: Obj, role: str, path: Path) -> str:
    """What the role's own container requests, as it is written somewhere."""
    return str(_cores(app, role, path).value)


def _cores(app: Obj, role: str, path: Path) -> _Said:
    role_at, conf_at = (*path, role), (*path, "sparkConf")
    pod, conf = mapping(app.get(role), role_at), mapping(app.get("sparkConf"), conf_at)
    key = f"spark.kubernetes.{role}.request.cores"
    requested = _first(_Said(pod.get("coreRequest"), (*role_at, "coreRequest")), _Said(conf.get(key), (*conf_at, key)))
    return requested or _stated(app, role, "cores", path) or _Said("1", (*role_at, "cores"))


def _first(*said: _Said) -> _Said | None:
    return next((one for one in said if one.value not in (None, "")), None)


def _stated(app: Obj, role: str, field: str, path: Path) -> _Said | None:
    """A field of the role; where it has none, the setting of that name."""
    key = f"spark.{role}.{field}"
    pod, conf = mapping(app.get(role), (*path, role)), mapping(app.get("sparkConf"), (*path, "sparkConf"))
    return _first(_Said(pod.get(field), (*path, role, field)), _Said(conf.get(key), (*path, "sparkConf", key)))


def _memory_bytes(app: Obj, role: str, path: Path) -> int:
    heap = _mebibytes(_stated(app, role, "memory", path) or _Said("1g", (*path, role, "memory")))
    conf = mapping(app.get("sparkConf"), (*path, "sparkConf"))
    if stated := _stated(app, role, "memoryOverhead", path):
        total = heap + _mebibytes(stated)
    else:
        key = f"spark.{role}.minMemoryOverhead"
        least = _mebibytes(_Said(conf[key], (*path, "sparkConf", key))) if conf.get(key) else _LEAST_OVERHEAD
        total = heap + max(int(heap * _factor(app, role, path)), least)
    if role == "executor":
        total += _python(app, conf, path) + _off_heap(conf, path)
    return total


def _factor(app: Obj, role: str, path: Path) -> Fraction:
    conf, at = mapping(app.get("sparkConf"), (*path, "sparkConf")), (*path, "sparkConf")
    keys = (f"spark.{role}.memoryOverheadFactor", "spark.kubernetes.memoryOverheadFactor")
    stated = _first(
        *(_Said(conf.get(key), (*at, key)) for key in keys),
        _Said(app.get("memoryOverheadFactor"), (*path, "memoryOverheadFactor")),
    )
    if stated is None:
        return Fraction(1, 10) if app.get("type") in _JVM else Fraction(4, 10)
    try:
        factor = Fraction(str(stated.value))
    except (ValueError, ZeroDivisionError):
        factor = Fraction(-1)
    if factor < 0:
        raise JobError(stated.path, f'"{stated.value}" is not a factor; write a decimal number in quotes, e.g. "0.1"')
    return factor


def _python(app: Obj, conf: Obj, path: Path) -> int:
    stated = conf.get("spark.executor.pyspark.memory")
    if stated is None or app.get("type") != "Python":
        return 0
    return _mebibytes(_Said(stated, (*path, "sparkConf", "spark.executor.pyspark.memory")))


def _off_heap(conf: Obj, path: Path) -> int:
    if str(conf.get("spark.memory.offHeap.enabled", "false")).lower() == "false":
        return 0
    return memory_bytes(conf.get("spark.memory.offHeap.size", 0), (*path, "sparkConf", "spark.memory.offHeap.size"))


def _mebibytes(said: _Said) -> int:
    """Bytes of a setting whose bare numbers are mebibytes."""
    return memory_bytes(f"{said.value}m" if str(said.value).isdigit() else said.value, said.path)


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
