"""Answers without what two right servers may give differently: identities, times, addresses, versions."""

from __future__ import annotations

import datetime
import re
from typing import Any

from tests.harness import Reply

Json = Any

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
AGE = re.compile(r"\ds")
RANDOM_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}")
RANDOM = "kube-api-access-<random>"
# Replica sets are told apart by a hash of their template, and nobody relies on which one.
HASH = re.compile(r"(pod-template-hash=|deploy-)[bcdfghjklmnpqrstvwxz2456789]{8,10}\b")
ADDRESSES = {"clusterIP", "clusterIPs", "podIP", "hostIP", "nodePort", "healthCheckNodePort"}
SECRETS = {"token", "caBundle", "continue", "ca.crt", "serverAddress"}
# Words for people, which are our own, and the name of the issuer, which is a setting.
WORDS = {"kubernetes.io/description"}
ISSUER = re.compile(r"https://kubernetes\.default\.svc(\.cluster\.local)?")
# What controllers own differs in its writers' names, not in what a client relies on.
CONTROLLERS = re.compile(r"kube-(controller-manager|scheduler|apiserver)|tidegate.*")


class Normal:
    """Normalises the answers of one story; versions are counted per object, so that a no-op write shows as one."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._versions: dict[str, list[str]] = {}

    def answer(self, reply: Reply, content: Json, ignore: tuple[str, ...]) -> Json:
        """Everything of an answer that two right servers agree on."""
        media = reply.headers.get("content-type", "").split(";")[0]
        warnings = reply.headers.get("warning", "").count("299 ")
        if isinstance(content, list):
            content = [event for event in content if not _is_idle_bookmark(event)]
        if isinstance(content, dict) and content.get("kind") == "Status" and content.get("status") == "Failure":
            shown = self._failure(content)
        elif isinstance(content, str):
            shown = "text" if content else "nothing"
        else:
            shown = self._value(content, "")
        for path in ignore:
            _drop(shown, path.split("."))
        return {"code": reply.status, "media": media, "warnings": warnings, "object": shown}

    def _failure(self, status: Json) -> Json:
        details = dict(status.get("details") or {})
        causes = [f"{cause.get('field', '')} {cause.get('reason', '')}" for cause in details.pop("causes", None) or []]
        return {
            "reason": status.get("reason", ""),
            "details": self._value(details, ""),
            "causes": sorted(self._text(cause, "") for cause in causes),
        }

    def _value(self, value: Json, key: str) -> Json:
        if key in ADDRESSES | SECRETS | WORDS and value not in ("None", "", None):
            return f"<{key}>"
        if key == "columnDefinitions" and isinstance(value, list):
            key = ""
            value = [{name: told for name, told in column.items() if name != "description"} for column in value]
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            items = [self._value(item, key) for item in value]
            return sorted(filter(None, items), key=_owner) if key == "managedFields" else items
        if isinstance(value, str):
            return self._text(value, key)
        return value

    def _object(self, value: dict[str, Json]) -> Json:
        if "fieldsType" in value and CONTROLLERS.fullmatch(value.get("manager", "")):
            return None
        shown = {RANDOM_VOLUME.sub(RANDOM, key): self._value(item, key) for key, item in value.items()}
        if "resourceVersion" in value:
            shown["resourceVersion"] = self._version(value.get("uid", ""), value["resourceVersion"])
        if value.get("generateName") and str(value.get("name", "")).startswith(value["generateName"]):
            shown["name"] = self._text(value["generateName"], "") + "<random>"
        return shown

    def _version(self, uid: str, version: str) -> str:
        if not uid or version == "":
            return "<version>" if version else ""
        seen = self._versions.setdefault(uid, [])
        if version not in seen:
            seen.append(version)
        return f"<version {seen.index(version) + 1}>"

    def _text(self, value: str, key: str) -> str:
        if key == "cells" and AGE.fullmatch(value):
            return "<age>"
        if TIME.fullmatch(value) and _recent(value):
            return "<time>" if "." not in value else "<micro time>"
        value = ISSUER.sub("<issuer>", UID.sub("<uid>", value.replace(self._namespace, "NS")))
        return RANDOM_VOLUME.sub(RANDOM, HASH.sub(r"\1<hash>", value))


def _owner(entry: Json) -> tuple[str, ...]:
    """Order of managed fields: the server's depends on whether two writes fell into the same second."""
    return tuple(entry.get(key, "") for key in ("operation", "manager", "subresource", "apiVersion"))


def _is_idle_bookmark(event: Json) -> bool:
    """Whether an event only tells the time: a server sends as many of those as it likes."""
    return event.get("type") == "BOOKMARK" and "annotations" not in event.get("object", {}).get("metadata", {})


def _recent(text: str) -> bool:
    then = datetime.datetime.fromisoformat(text)
    return abs(datetime.datetime.now(datetime.UTC) - then) < datetime.timedelta(days=2)


def _drop(value: Json, path: list[str]) -> None:
    if isinstance(value, list):
        for item in value:
            _drop(item, path)
    elif isinstance(value, dict):
        if len(path) == 1:
            value.pop(path[0], None)
        elif path[0] in value:
            _drop(value[path[0]], path[1:])
