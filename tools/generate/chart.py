"""The Helm chart, from the same objects as `tidegate install` writes: deploy/chart.

The objects are made with words in place of what people choose, and the words replaced by Helm's expressions. What only
kinds of one's own need is what differs between the objects with and without one.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidegate import __version__
from tidegate.cli.installed.install import documents
from tidegate.controller.installation.deployment import Choice
from tidegate.controller.installation.objects import around
from tidegate.controller.installation.rights import application_rules
from tidegate.model.jobs import Kinds, builtin, parse_kinds
from tools.generate import kinds
from tools.generate.installation import MADE

CHART = Path("deploy/chart")
_TEXT = "own-kinds-text"
_REPLICAS = 987654
_CHOICE = Choice("chosen-image", namespace="chosen-namespace", replicas=_REPLICAS, pull="chosen-pull")
_WORDS = {
    "chosen-image": "{{ .Values.image | quote }}",
    "chosen-namespace": "{{ .Release.Namespace }}",
    "chosen-pull": "{{ .Values.pullPolicy }}",
    str(_REPLICAS): "{{ .Values.replicas }}",
    "--manage=labelled": "--manage={{ .Values.manage }}",
    f"0.yaml: {_TEXT}": '0.yaml: |{{ dict "kinds" .Values.kinds | toYaml | nindent 4 }}',
    "own-group": '{{ .group | default "" | quote }}',
    "own-plural/finalizers": '{{ printf "%s/finalizers" .plural | quote }}',
    "own-plural": "{{ .plural | quote }}",
}
_OWN = {"kind": "Own", "group": "own-group", "versions": ["v1"], "plural": "own-plural",
        "podSets": [{"template": ".spec.template"}]}  # fmt: skip
_REFERRED = """\
{{- $group := .group | default "" }}
{{- range (.refers | default dict).kinds }}
- apiGroups:
  - {{ $group | quote }}
  resources:
  - {{ printf "%ss" (lower .) | quote }}
  verbs:
  - get
  - list
  - watch
{{- end }}
"""
IF, RANGE, END = "{{- if .Values.kinds }}\n", "{{- range .Values.kinds }}\n", "{{- end }}{{/* kinds */}}\n"

_VALUES = f"""\
# What people choose; everything else is as `tidegate install` has it.
image: tidegate:{__version__}
pullPolicy: IfNotPresent
# One of them leads, all of them answer webhooks.
replicas: 2
# Where it rules: in namespaces labelled tidegate.dev/managed=true (labelled), or in all but kube-* and its own (all).
manage: labelled
# Kinds of your own, as a file of kinds lists them: docs/how-to/own-kind.md.
kinds: []
"""
_NOTES = """\
Tidegate starts now. {{ if eq .Values.manage "labelled" -}}
It rules where you say so:  kubectl label namespace NAME tidegate.dev/managed=true
{{- end }}
A Queue for a namespace:    tidegate queue create default -n NAME

To take it away, run `tidegate uninstall -n {{ .Release.Namespace }}` first: it takes the webhooks away, which
the operator wrote by itself, and lets go what waits; Helm's own record goes with the namespace.
"""
_SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "additionalProperties": False,
    "required": ["image", "replicas", "manage"],
    "properties": {
        "image": {"type": "string", "minLength": 1},
        "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]},
        "replicas": {"type": "integer", "minimum": 1},
        "manage": {"enum": ["labelled", "all"]},
        "kinds": {"type": "array", "items": {"type": "object", "required": ["kind", "versions", "plural"]}},
        "global": {"type": "object"},
    },
}


def files() -> dict[Path, str]:
    """Path below the root → content."""
    about = {
        "apiVersion": "v2",
        "name": "tidegate",
        "description": "Queues, fair shares and elastic capacity for batch work that grows and shrinks while it runs",
        "type": "application",
        "version": __version__,
        "appVersion": __version__,
        "kubeVersion": ">=1.30.0-0",
    }
    crds = {CHART / "crds" / path.name: text for path, text in kinds.files().items() if path.match("deploy/crds/*")}
    return crds | {
        CHART / "Chart.yaml": MADE + documents([about]).removeprefix("---\n"),
        CHART / "values.yaml": _VALUES,
        CHART / "values.schema.json": json.dumps(_SCHEMA, indent=2) + "\n",
        CHART / "templates" / "NOTES.txt": _NOTES,
        CHART / "templates" / "tidegate.yaml": MADE + "".join(_templates()),
    }


def _templates() -> Iterator[str]:
    """Every object but the namespace, which Helm makes, with what kinds of one's own add to it."""
    own = Choice(_CHOICE.image, namespace=_CHOICE.namespace, replicas=_REPLICAS, pull=_CHOICE.pull, kinds=(_TEXT,))
    plain = {_called(each): documents([each]) for each in around(builtin(), _CHOICE)}
    for each in around(builtin(), own):
        if each["kind"] == "Namespace":
            continue
        text = documents([each])
        text = _merged(plain[_called(each)], text) if _called(each) in plain else f"{IF}{text}{END}"
        if each["kind"] == "ClusterRole" and "rules" in each and each["metadata"]["name"] == "tidegate":
            text += RANGE + _own_rules() + END
        yield _worded(text)


def _called(obj: Any) -> tuple[str, str]:
    return obj["kind"], obj["metadata"]["name"]


def _merged(plain: str, own: str) -> str:
    """One text for both: lines that only the second has stand under a condition."""
    before, after = plain.splitlines(keepends=True), own.splitlines(keepends=True)
    merged = []
    for tag, _, _, start, end in difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        assert tag in ("equal", "insert"), "kinds of one's own add, and change nothing"
        lines = after[start:end]
        merged += lines if tag == "equal" else [IF, *lines, END]
    return "".join(merged)


def _own_rules() -> str:
    """Rights for a kind of one's own, and to read what it refers to."""
    rules = application_rules(Kinds(parse_kinds({"kinds": [_OWN]})))
    return documents([rules]).removeprefix("---\n") + _REFERRED


def _worded(text: str) -> str:
    for word, expression in _WORDS.items():
        text = text.replace(word, expression)
    return text
