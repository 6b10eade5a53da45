"""What follows from the operator's code: the manifests in deploy/, and docs/reference/metrics.md."""

from __future__ import annotations

from pathlib import Path

from tidegate import __version__
from tidegate.cli.installed.install import documents
from tidegate.controller.installation.deployment import Choice
from tidegate.controller.installation.objects import around
from tidegate.controller.metrics.metrics import COUNTED, MEASURED
from tidegate.controller.metrics.standing import GAUGES
from tidegate.model.jobs import builtin
from tidegate.model.kinds import GROUP, SERVED

MADE = "# Made by tools/generate from src/tidegate/controller/installation. Change that, not this.\n"

_METRICS = """\
# Metrics

<!-- Made by tools/generate from src/tidegate/controller/metrics. Change that, not this. -->

`tidegate operator --metrics-bind HOST:PORT` serves `/metrics` for Prometheus, `/healthz` (the process lives) and
`/readyz` (it has read the queues and can judge). Names are Kueue's with the prefix `tidegate_` where the meaning is the
same. Only the replica that leads (`tidegate_leader` is 1) shows how things stand; that is read when the page is asked
for, so nothing is paid for it in between. Reasons are those of [waiting](../concepts/waiting-reasons.md), and for what
is taken back the rule by which it was: `FairShare`, `FloorBeforeSurplus`, `WithinQueue`, `LowerPriority`, `NotWanted`,
`Inactive`, `OverQuota`, `Drained`, `NoQueue`."""


def files() -> dict[Path, str]:
    """Path below the root → content."""
    choice = Choice(f"tidegate:{__version__}")
    crds = sorted(f"crds/{kind.definition.plural}.{GROUP}.yaml" for kind in SERVED)
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [*crds, "tidegate.yaml"],
        "images": [{"name": "tidegate", "newName": "tidegate", "newTag": __version__}],
    }
    return {
        Path("deploy/tidegate.yaml"): MADE + documents(around(builtin(), choice)),
        Path("docs/reference/metrics.md"): metrics_page(),
        Path("deploy/kustomization.yaml"): MADE + documents([kustomization]).removeprefix("---\n"),
    }


def metrics_page() -> str:
    """All metrics, from the tables they are made of."""
    lines = [_METRICS]
    for title, suffix, table in (
        ("How things stand", "", {"leader": ((), "1 where this replica leads."), **GAUGES}),
        ("What happened", "_total", COUNTED),
        ("How long it took", "", MEASURED),
    ):
        lines += ["", f"## {title}", "", "| metric | labels | meaning |", "|---|---|---|"]
        for name, (labels, text) in table.items():
            lines.append(f"| `tidegate_{name}{suffix}` | {', '.join(f'`{each}`' for each in labels)} | {text} |")
    return "\n".join([*lines, "", "The last are histograms: `_bucket`, `_sum`, `_count`.", ""])
