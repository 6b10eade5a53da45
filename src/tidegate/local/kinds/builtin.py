"""The base of every strategy here: how a kind's checks become the answers the server asks for."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError
from tidegate.local.kinds import metadata, names
from tidegate.local.kinds.rules import Errors
from tidegate.local.kinds.strategy import Strategy


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

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        from tidegate.local.kinds.warnings import warnings_of

        return list(warnings_of(obj, is_new=old is None))

    def name_errors(self, name: str) -> list[str]:
        return self.name_form(name)

    def _finalizers(self, obj: Object) -> Errors:
        if not self.any_finalizer:
            yield from metadata.core_finalizers(obj)
