"""A webhook's decision: an object that a platform creates, rendered for the scheduler of its namespace.

Pure: an AdmissionReview goes in, an AdmissionReview comes out. Serving it, and creating what belongs beside the object
(a PodGroup), is done by whoever calls this.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.dialects.draft import Fate
from tidegate.dialects.intent.config import QueueConfig, parse_queueconfig
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.render import Rendering, render
from tidegate.model.jobs import Kinds, Obj, builtin
from tidegate.model.json_patch import changes
from tidegate.model.problems import ManifestError, Problem

Json = dict[str, Any]
_LONGEST_WARNING = 250
_WHO = ("organisation", "user", "groups")
_RULE = (*_WHO, "queueconfig")
ANY = "*"


@dataclass(frozen=True, slots=True)
class NamespaceRule:
    """How objects of a namespace are rendered. Without a user, whoever creates them is the user."""

    config: QueueConfig
    organisation: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer, and objects that must be created for it to be true."""

    review: Json
    others: tuple[Obj, ...] = ()


def parse_rules(content: object) -> dict[str, NamespaceRule]:
    """Rules by namespace, `*` for all others, as a file has them under `namespaces:`. ManifestError: all problems."""
    inner = content.get("namespaces") if isinstance(content, Mapping) else None
    if not isinstance(inner, Mapping):
        raise ManifestError([Problem(("namespaces",), "is missing; write a queueconfig for each namespace, or for *")])
    rules: dict[str, NamespaceRule] = {}
    problems: list[Problem] = []
    for namespace, raw in inner.items():
        at = ("namespaces", str(namespace))
        if not isinstance(raw, Mapping):
            problems.append(Problem(at, "is not a mapping; write queueconfig: and organisation:"))
            continue
        problems += [
            Problem((*at, str(key)), f"is not known here; use {', '.join(_RULE)}") for key in raw if key not in _RULE
        ]
        try:
            config = parse_queueconfig(raw.get("queueconfig"))
            told = Submission.parse({key: raw[key] for key in _WHO if raw.get(key) is not None})
            rules[str(namespace)] = NamespaceRule(config, told.organisation, told.user, told.groups)
        except ManifestError as error:
            problems += [Problem((*at, *problem.path), problem.message) for problem in error.problems]
    if problems:
        raise ManifestError(problems)
    return rules


def decide(review: Obj, rules: Mapping[str, NamespaceRule], *, kinds: Kinds | None = None) -> Decision:
    """Patches what is created in a namespace with a rule, lets all else pass, refuses what cannot be rendered."""
    request = review.get("request") or {}
    obj, table = request.get("object") or {}, kinds or builtin()
    rule = rules.get(str(request.get("namespace"))) or rules.get(ANY)
    if rule is None or request.get("operation") != "CREATE" or table.find(obj) is None or _is_made(obj, table):
        return Decision(_answer(request, {"allowed": True}))
    try:
        done = render(_named(obj, request), _submission(rule, request), rule.config, kinds=table)
    except ValueError as error:
        status = {"code": 422, "reason": "Invalid", "message": f"tidegate: {error}"}
        return Decision(_answer(request, {"allowed": False, "status": status}))
    return Decision(_answer(request, _allowed(obj, done)), done.others)


def _is_made(obj: Obj, kinds: Kinds) -> bool:
    """Whether a controller made it for an object that was rendered itself; doing so again would part the two."""
    known = {entry.kind for entry in kinds.entries} | {kind for entry in kinds.entries for kind in entry.through}
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("kind") in known for owner in owners)


def _named(obj: Obj, request: Obj) -> Obj:
    """With the namespace it will have, which the object itself may leave to the request."""
    metadata = dict(obj.get("metadata") or {})
    if request.get("namespace"):
        metadata.setdefault("namespace", request["namespace"])
    return {**obj, "metadata": metadata}


def _submission(rule: NamespaceRule, request: Obj) -> Submission:
    who = request.get("userInfo") or {}
    user, groups = rule.user or who.get("username", ""), rule.groups if rule.user else tuple(who.get("groups") or ())
    metadata = (request.get("object") or {}).get("metadata") or {}
    # A name that the server is still to choose cannot tell applications apart; the request's own id can.
    unique = "" if metadata.get("name") else str(request.get("uid") or "")
    return Submission(organisation=rule.organisation, user=user, groups=groups if user else (), id=unique)


def _allowed(obj: Obj, done: Rendering) -> Json:
    response: Json = {"allowed": True}
    if patch := list(changes(obj, done.object)):
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
    warnings = [str(note)[:_LONGEST_WARNING] for note in done.notes if note.fate is Fate.DROPPED]
    return response | ({"warnings": warnings} if warnings else {})


def _answer(request: Obj, response: Json) -> Json:
    uid = {"uid": request.get("uid", "")}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": uid | response}
