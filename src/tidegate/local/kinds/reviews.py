"""Kinds that are questions, asked and answered but never stored: access reviews, tokens, bindings, scales."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import invalid, not_supported
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import Errors, child, needs


class _Question(BuiltIn):
    """Asked and answered, never stored; so it needs no name."""

    name_form = staticmethod(names.path_segment)


class TokenRequest(_Question):
    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("expirationSeconds") is None:
            spec["expirationSeconds"] = 3600

    def check(self, obj: Object) -> Errors:
        seconds = child(obj, "spec").get("expirationSeconds") or 0
        if seconds < 600:
            yield invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
        elif seconds > 1 << 32:
            yield invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")


class SelfSubjectAccessReview(_Question):
    local = False

    def check(self, obj: Object) -> Errors:
        yield from self._asked(child(obj, "spec"))
        free = {"managedFields", "namespace"} if self.local else {"managedFields"}
        said = {key: value for key, value in child(obj, "metadata").items() if key not in free and value}
        if said:
            yield invalid("metadata", said, "must be empty except for namespace" if self.local else "must be empty")

    def _asked(self, spec: Object) -> Errors:
        resource, other = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
        if resource is not None and other is not None:
            says = "cannot be specified in combination with resourceAttributes"
            yield invalid("spec.nonResourceAttributes", other, says)
        elif resource is None and other is None:
            says = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
            yield invalid("spec.resourceAttributes", None, says)


class SubjectAccessReview(SelfSubjectAccessReview):
    def _asked(self, spec: Object) -> Errors:
        yield from super()._asked(spec)
        if not spec.get("user") and not spec.get("groups"):
            yield invalid("spec.user", "", "at least one of user or group must be specified")


class LocalSubjectAccessReview(SubjectAccessReview):
    local = True

    def check(self, obj: Object) -> Errors:
        yield from super().check(obj)
        spec, namespace = child(obj, "spec"), child(obj, "metadata").get("namespace") or ""
        asked = spec.get("resourceAttributes")
        if asked is not None and (asked.get("namespace") or "") != namespace:
            path = "spec.resourceAttributes.namespace"
            yield invalid(path, asked.get("namespace") or "", "must match metadata.namespace")
        if (other := spec.get("nonResourceAttributes")) is not None:
            yield invalid("spec.nonResourceAttributes", other, "disallowed on this kind of request")


class Binding(_Question):
    """A pod's door to a node."""

    def check(self, obj: Object) -> Errors:
        target = child(obj, "target")
        if target.get("kind") not in (None, "", "Node"):
            yield not_supported("target.kind", target["kind"], ("Node", "<empty>"))
        yield from needs("target", target, "name")


class Scale(_Question):
    """The replica count of something, seen alone."""

    def check(self, obj: Object) -> Errors:
        if (replicas := child(obj, "spec").get("replicas") or 0) < 0:
            yield invalid("spec.replicas", replicas, "must be greater than or equal to 0")
