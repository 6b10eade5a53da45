"""Where Tidegate rules, and where work goes that names no Queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

MANAGED = "tidegate.dev/managed"
"""Label of a namespace: "true" or "false"."""
DEFAULT_QUEUE = "default"


def rules_in(name: str, labels: Mapping[str, str], *, everywhere: bool) -> bool:
    """Whether Tidegate rules in a namespace: as its label says; unlabelled, as installed, but never in the system's."""
    said = labels.get(MANAGED)
    if said in ("true", "false"):
        return said == "true"
    return everywhere and not name.startswith("kube-")


class Managed:
    """The answers for one server; labels and queues are looked up when asked."""

    def __init__(
        self,
        labels: Callable[[str], Mapping[str, str]],
        queues: Callable[[str], set[str]],
        *,
        everywhere: bool,
    ) -> None:
        self._labels, self._queues = labels, queues
        self._everywhere = everywhere

    def is_managed(self, namespace: str) -> bool:
        return rules_in(namespace, self._labels(namespace), everywhere=self._everywhere)

    def has_default(self, namespace: str) -> bool:
        return DEFAULT_QUEUE in self._queues(namespace)

    def queues(self, namespace: str) -> set[str]:
        return self._queues(namespace)
