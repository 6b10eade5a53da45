"""Why a pod cannot be prepared, in words for its status."""

from __future__ import annotations


class Unrunnable(Exception):  # noqa: N818 - a state of the pod more than an error of the program
    """A container cannot start as things are: `reason` is what Kubernetes calls it, the message says what to do."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Missing(Unrunnable):
    """A configMap or secret is not there (yet): the pod waits, and goes on as soon as it appears."""

    def __init__(self, reason: str, kind: str, namespace: str, name: str) -> None:
        super().__init__(reason, f'{kind.lower()} "{name}" not found')
        self.kind = kind
        self.namespace = namespace
        self.name = name
