"""Plays a story on one server and gives back its answers in a form that can be compared."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

from tests.differential.normal import Normal
from tests.differential.stories import Step, Story, changed
from tests.harness import Cluster, Reply
from tests.harness.cluster import PATIENCE_S

Json = Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What is compared (`shown`), and what is only told (`message`)."""

    request: str
    status: int
    shown: Json
    message: str


@dataclass
class Player:
    """One story on one server."""

    cluster: Cluster
    namespace: str
    variables: dict[str, str] = field(default_factory=dict)
    last: Json = None

    def play(self, story: Story) -> list[Answer]:
        self.cluster.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        # Furnished by two controllers, in no order: a story that reads what is there must find both.
        for there in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            self.cluster.eventually(f"/api/v1/namespaces/{self.namespace}/{there}", lambda reply: reply.status == 200)
        self.variables["NS"] = self.namespace
        normal = Normal(self.namespace)
        try:
            return [self._answer(step, normal) for step in story.steps]
        finally:
            self.cluster.http("DELETE", f"/api/v1/namespaces/{self.namespace}")

    def _answer(self, step: Step, normal: Normal) -> Answer:
        path = self._fill(step.path).replace(" ", "%20")
        reply = self._send(step, path)
        content = _content(reply, path)
        if isinstance(content, dict) and content.get("kind") != "Status":
            self.last = content
        for name, where in step.save.items():
            self.variables[name] = str(_at(content, where))
        message = content.get("message", "") if isinstance(content, dict) else ""
        shown = normal.answer(reply, content, step.ignore)
        return Answer(f"{step.method} {path}", reply.status, shown, message.replace(self.namespace, "NS"))

    def _send(self, step: Step, path: str) -> Reply:
        body = self._fill(step.body)
        if step.changed is not None:
            body = changed(self.last, self._fill(step.changed))
        headers = {"User-Agent": "differential/1"} | self._fill(dict(step.headers))
        deadline = time.monotonic() + PATIENCE_S
        while True:
            reply = self.cluster.http(step.method, path, body, headers)
            if all(_at(_content(reply, path), where) == value for where, value in self._fill(step.until).items()):
                return reply
            if time.monotonic() > deadline:
                return reply
            time.sleep(0.05)

    def _fill(self, value: Json) -> Json:
        if isinstance(value, str):
            return Template(value).safe_substitute(self.variables)
        if isinstance(value, Mapping):
            return {self._fill(key): self._fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._fill(item) for item in value]
        return value


def _content(reply: Reply, path: str) -> Json:
    """The answer as JSON, a list of events for a watch, or its text."""
    text = reply.body.decode(errors="replace")
    try:
        if re.search(r"[?&]watch=(true|1)", path) and reply.status == 200:
            return [json.loads(line) for line in text.splitlines()]
        return json.loads(text)
    except ValueError:
        return text


def _at(content: Json, path: str) -> Json:
    if path == "code":
        return content.get("code", 200) if isinstance(content, dict) else None
    for part in (part.replace("~", ".") for part in path.split(".")):
        if isinstance(content, list):
            content = content[int(part)] if int(part) < len(content) else None
        elif isinstance(content, dict):
            content = content.get(part)
        else:
            return None
    return content
