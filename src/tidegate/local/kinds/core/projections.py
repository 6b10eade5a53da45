"""Volumes whose files are made from other objects: secrets, config maps, the pod itself, tokens."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, required
from tidegate.local.kinds.core import downward
from tidegate.local.kinds.core.security import relative_path
from tidegate.local.kinds.rules import Errors, items, needs

_FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def _mode(path: str, source: Object, key: str = "defaultMode") -> Errors:
    if (mode := source.get(key)) is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{key}", mode, _FILE_MODE)


def _local_path(path: str, target: str) -> Errors:
    yield from relative_path(path, target)
    if target.startswith("..") and not target.startswith("../"):
        yield invalid(path, target, "must not start with '..'")


def _keys(path: str, source: Object) -> Errors:
    for at, item in items(source, "items", path):
        yield from needs(at, item, "key", "path")
        yield from _local_path(f"{at}.path", item.get("path") or "")
        yield from _mode(at, item, "mode")


def keyed(name_key: str) -> Callable[[str, Object], Errors]:
    """A secret or a config map: a name, a mode and chosen keys."""

    def check(path: str, source: Object) -> Errors:
        yield from needs(path, source, name_key)
        yield from _mode(path, source)
        yield from _keys(path, source)

    return check


def downward_api(path: str, source: Object) -> Errors:
    yield from _mode(path, source)
    yield from _downward_files(path, source)


def _downward_files(path: str, source: Object) -> Errors:
    for item in source.get("items") or ():
        yield from needs(path, item, "path")
        yield from _local_path(f"{path}.path", item.get("path") or "")
        if (chosen := item.get("fieldRef")) is not None:
            yield from downward.field_ref(f"{path}.fieldRef", chosen, in_volume=True)
            if item.get("resourceFieldRef") is not None:
                says = "fieldRef and resourceFieldRef can not be specified simultaneously"
                yield invalid(path, "resource", says)
        elif (chosen := item.get("resourceFieldRef")) is not None:
            yield from downward.resource_field_ref(f"{path}.resourceFieldRef", chosen, in_volume=True)
        else:
            yield required(path, "one of fieldRef and resourceFieldRef is required")
        yield from _mode(path, item, "mode")


def projected(path: str, source: Object) -> Errors:
    yield from _mode(path, source)
    seen: set[str] = set()
    for at, one in items(source, "sources", path):
        for sort in ("secret", "configMap"):
            if (keyed := one.get(sort)) is not None:
                yield from needs(f"{at}.{sort}", keyed, "name")
                yield from _keys(f"{at}.{sort}", keyed)
                yield from _unique_paths(path, keyed, seen, keyed.get("name") or "")
        if (files := one.get("downwardAPI")) is not None:
            yield from _downward_files(f"{at}.downwardAPI", files)
            yield from _unique_paths(path, files, seen)
        if (token := one.get("serviceAccountToken")) is not None:
            yield from _token(path, f"{at}.serviceAccountToken", token)
        if len([key for key, value in one.items() if value is not None]) > 1:
            yield forbidden_field(at, "may not specify more than 1 volume type per source")


def _unique_paths(path: str, source: Object, seen: set[str], shown: str = "") -> Errors:
    for item in source.get("items") or ():
        if target := item.get("path"):
            if target in seen:
                yield invalid(path, shown or target, "conflicting duplicate paths")
            seen.add(target)


def _token(path: str, token_path: str, token: Object) -> Errors:
    seconds = token["expirationSeconds"]
    if seconds < 600:
        yield invalid(f"{token_path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > 1 << 32:
        yield invalid(f"{token_path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    yield from needs(path, token, "path")
    if token.get("path"):
        yield from _local_path(f"{path}.path", token["path"])
