"""JSON Patch (RFC 6902) with the liberties Kubernetes' server takes, on which clients have come to rely.

Of these the one that matters: `replace` of a key that an object does not have adds it.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.errors import ApiError, bad_request, too_large
from tidegate.local.patch.refusal import go_type, rejected

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 * 1024 * 1024

_INDEX = re.compile(r"[+-]?[0-9]+", re.ASCII)
_TEXT_FIELDS = ("op", "path", "from")


def json_patch(obj: Object, operations: Any) -> Object:
    """`obj` after all `operations`, in order; none is done if one cannot be. `obj` is left as it is."""
    _check_operations(operations)
    document = _Document(obj)
    for operation in operations or ():
        document.do(operation)
    return document.result()


def _check_operations(operations: Any) -> None:
    if operations is not None and not isinstance(operations, list):
        raise _undecodable(operations, "Go value of type []handlers.jsonPatchOp")
    for operation in operations or ():
        if operation is None:
            raise rejected()
        if not isinstance(operation, dict):
            raise _undecodable(operation, "Go value of type handlers.jsonPatchOp")
        for name in _TEXT_FIELDS:
            if not isinstance(operation.get(name, ""), str | None):
                raise _undecodable(operation[name], f"Go struct field jsonPatchOp.{name} of type string")
    if operations and len(operations) > MAX_OPERATIONS:
        allowed = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        raise too_large(f"Request entity too large: {allowed}")


def _undecodable(value: Any, place: str) -> ApiError:
    return bad_request(f"error decoding patch: json: cannot unmarshal {go_type(value)} into {place}")


class _Document:
    """An object being patched: containers are copied when first changed, so that the rest stays shared."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._own: dict[int, Any] = {}
        self._copied_bytes = 0

    def result(self) -> Object:
        if not isinstance(self._root, dict):
            raise rejected()
        return self._root

    def do(self, operation: Object) -> None:
        match operation.get("op"):
            case "add":
                self._add(_path(operation, "path"), operation.get("value"))
            case "remove":
                self._remove(_path(operation, "path"))
            case "replace":
                self._replace(_path(operation, "path"), operation)
            case "move":
                source = _path(operation, "from")
                value = self._get(source)
                self._remove(source)
                self._add(_path(operation, "path"), value)
            case "copy":
                self._copy(_path(operation, "from"), _path(operation, "path"))
            case "test":
                self._test(_path(operation, "path"), operation.get("value"))
            case _:
                raise rejected()

    def _add(self, path: str, value: Any) -> None:
        container, key = self._changeable(path)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_index(key, len(container) + 1), value)

    def _remove(self, path: str) -> None:
        container, key = self._changeable(path)
        if isinstance(container, dict):
            if key not in container:
                raise rejected()
            del container[key]
        else:
            del container[_index(key, len(container))]

    def _replace(self, path: str, operation: Object) -> None:
        value = operation.get("value")
        if not path:
            if not isinstance(value, dict | list):
                raise rejected()
            self._root = value
            return
        container, key = self._changeable(path)
        if isinstance(container, dict):
            container[key] = value
        else:
            container[_index(key, len(container))] = value

    def _copy(self, source: str, path: str) -> None:
        encoded = msgspec.json.encode(self._get(source))
        self._copied_bytes += len(encoded)
        if self._copied_bytes > MAX_COPIED_BYTES:
            raise rejected()
        # A real copy: the source may be one of our own containers, and a later operation may change either place.
        self._add(path, msgspec.json.decode(encoded))

    def _test(self, path: str, expected: Any) -> None:
        if not same(self._get(path) if path else self._root, expected):
            raise rejected()

    def _get(self, path: str) -> Any:
        *parents, key = _keys(path)
        container = self._root
        for parent in parents:
            container = _child(container, parent)
        if not isinstance(container, dict | list):
            raise rejected()
        return container.get(key) if isinstance(container, dict) else container[_index(key, len(container))]

    def _changeable(self, path: str) -> tuple[Any, str]:
        """The container that holds the last key of `path`, safe to change, and that key."""
        *parents, key = _keys(path)
        container = self._root = self._owned(self._root)
        for parent in parents:
            child = self._owned(_child(container, parent))
            if isinstance(container, dict):
                container[parent] = child
            else:
                container[_index(parent, len(container))] = child
            container = child
        return container, key

    def _owned(self, container: Any) -> Any:
        if not isinstance(container, dict | list):
            raise rejected()
        if id(container) not in self._own:
            container = container.copy()
            self._own[id(container)] = container
        return container


def _path(operation: Object, name: str) -> str:
    path = operation.get(name)
    if path is None:
        raise rejected()
    return str(path)


def _keys(path: str) -> list[str]:
    """The steps of a path. What stands before the first slash is not looked at."""
    _, *steps = path.split("/")
    if not steps:
        raise rejected()
    return [step.replace("~1", "/").replace("~0", "~") if "~" in step else step for step in steps]


def _child(container: Any, key: str) -> Any:
    if isinstance(container, dict):
        return container.get(key)
    if isinstance(container, list):
        return container[_index(key, len(container))]
    raise rejected()


def _index(key: str, length: int) -> int:
    """The place `key` names in a list with `length` places; a negative one counts from the end."""
    if not _INDEX.fullmatch(key):
        raise rejected()
    index = int(key)
    if not -length <= index < length:
        raise rejected()
    return index % length


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal; unlike `==` it tells 1 from 1.0 and from true."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
