"""The `/scale` view of a custom object: three fields of it, named by simple paths, shown as autoscaling/v1 Scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local import errors
from tidegate.local.errors import FieldError

_MOST = 2**31 - 1
_GO_TYPES = {str: "string", bool: "bool", float: "float64", list: "[]interface {}", dict: "map[string]interface {}"}


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the numbers live: paths such as `.spec.replicas`."""

    spec_replicas: str
    status_replicas: str
    label_selector: str = ""

    @classmethod
    def parse(cls, raw: Object) -> Scale:
        return cls(raw["specReplicasPath"], raw["statusReplicasPath"], raw.get("labelSelectorPath") or "")

    def view(self, obj: Object) -> Object:
        """The Scale object. Raises errors.ApiError where the object has no such number."""
        replicas, wrong = _number(obj, self.spec_replicas)
        current, wrong_status = _number(obj, self.status_replicas)
        if wrong or wrong_status:
            raise errors.internal(wrong or wrong_status)
        if replicas is None:
            raise errors.internal(f'the spec replicas field "{self.spec_replicas}" does not exist')
        metadata = {
            key: obj["metadata"][key]
            for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
            if key in obj["metadata"]
        }
        status: Object = {"replicas": current or 0}
        selector = _found(obj, self.label_selector)[0] if self.label_selector else ""
        if isinstance(selector, str) and selector:
            status["selector"] = selector
        spec = {"replicas": replicas} if replicas else {}
        return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}

    def write(self, obj: Object, replicas: int) -> None:
        """Sets the wanted number in `obj`, in place."""
        *parents, last = _steps(self.spec_replicas)
        for step in parents:
            obj = obj.setdefault(step, {})
        obj[last] = replicas

    def spec_errors(self, obj: Object) -> list[FieldError]:
        return _number_errors(obj, self.spec_replicas)

    def status_errors(self, obj: Object) -> list[FieldError]:
        found = _number_errors(obj, self.status_replicas)
        if self.label_selector:
            value, wrong = _found(obj, self.label_selector)
            if not wrong and value is not None and not isinstance(value, str):
                wrong = _accessor(self.label_selector, value, "string")
            if wrong:
                found.append(errors.invalid(self.label_selector, "", wrong))
        return found


def _steps(path: str) -> list[str]:
    return path.removeprefix(".").split(".")


def _found(obj: Any, path: str) -> tuple[Any, str]:
    """The value at a path (None if there is none), and what is wrong with the way to it."""
    steps = _steps(path)
    for place, step in enumerate(steps):
        if obj is None:
            return None, ""
        if not isinstance(obj, dict):
            return None, _accessor(".".join(steps[: place + 1]), obj, "map[string]interface{}")
        if step not in obj:
            return None, ""
        obj = obj[step]
    return obj, ""


def _number(obj: Object, path: str) -> tuple[int | None, str]:
    value, wrong = _found(obj, path)
    if wrong or value is None:
        return None, wrong
    if value.__class__ is not int:
        return None, _accessor(path, value, "int64")
    return value, ""


def _accessor(path: str, value: Any, wanted: str) -> str:
    shown = "true" if value is True else "false" if value is False else value
    go_type = _GO_TYPES.get(value.__class__, "int64")
    return f".{path.removeprefix('.')} accessor error: {shown} is of the type {go_type}, expected {wanted}"


def _number_errors(obj: Object, path: str) -> list[FieldError]:
    value, wrong = _number(obj, path)
    if wrong:
        return [errors.invalid(path, 0, wrong)]
    if value is not None and value < 0:
        return [errors.invalid(path, value, "should be a non-negative integer")]
    if value is not None and value > _MOST:
        return [errors.invalid(path, value, f"should be less than or equal to {_MOST}")]
    return []
