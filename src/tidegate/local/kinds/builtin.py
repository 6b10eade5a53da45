"""The base of every strategy here: how a kind's checks become the answers the server asks for."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError
from tidegate.local.kinds import metadata, names
from tidegate.local.kinds.rules import Errors, child
from tidegate.local.kinds.strategy import Strategy

_IN_TEMPLATE = ("spec", "template", "spec")
_POD_SPECS = {
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "CronJob": ("spec", "jobTemplate", *_IN_TEMPLATE),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"), _IN_TEMPLATE),
    "ReplicationController": _IN_TEMPLATE,
}


class BuiltIn(Strategy):
    """A kind of Kubernetes' own. Subclasses say what is wrong with an object, and with a change of one."""

    generates_generation = False
    name_form: names.Form = staticmethod(names.dns_subdomain)
    any_finalizer = False
    """Whether a finalizer without a domain may be any; most kinds want one that Kubernetes knows."""

    def check(self, obj: Object) -> Errors:
        """What is wrong with the object as it stands; asked of new and of changed objects."""
        yield from ()

    def check_create(self, obj: Object) -> Errors:
        """What is wrong only because the object is new."""
        yield from ()

    def check_update(self, obj: Object, old: Object) -> Errors:
        """What is wrong with the change."""
        yield from ()

    def check_status(self, obj: Object, old: Object) -> Errors:
        """What is wrong with a change of status."""
        yield from ()

    def validate_create(self, obj: Object) -> list[FieldError]:
        return [*self._finalizers(obj), *self.check(obj), *self.check_create(obj)]

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return [*self._finalizers(obj), *self.check(obj), *self.check_update(obj, old)]

    def validate_status_update(self, obj: Object, old: Object) -> list[FieldError]:
        return [*self._finalizers(obj), *self.check_status(obj, old)]

    def warnings(self, obj: Object) -> list[str]:
        path = _POD_SPECS.get(obj.get("kind", ""))
        if path is None:
            return []
        from tidegate.local.kinds.core.pod_warnings import pod_warnings

        return list(pod_warnings(".".join(path), child(obj, *path)))

    def name_errors(self, name: str) -> list[str]:
        return self.name_form(name)

    def _finalizers(self, obj: Object) -> Errors:
        if not self.any_finalizer:
            yield from metadata.core_finalizers(obj)
