"""What the kinds that keep pods running have in common."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.core.pod_spec import check_template
from tidegate.local.kinds.rules import Errors, child, int_or_percent
from tidegate.local.kinds.selectors import label_selector, matches


def selected_template(spec: Object, called: str, kind: str, template: Object | None = None) -> Errors:
    """A selector that is not empty, and a template whose pods it selects."""
    selector = spec.get("selector")
    template = child(spec, "template") if template is None else template
    if selector is None:
        yield required("spec.selector")
    else:
        yield from label_selector("spec.selector", selector)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid("spec.selector", selector, f"empty selector is invalid for {called}")
    labels = child(template, "metadata").get("labels") or {}
    chosen = matches(selector, labels)
    if chosen is None:
        yield invalid("spec.selector", selector, "invalid label selector")
        return
    if not chosen:
        yield invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    yield from always_restarting_template("spec.template", template, kind)


def always_restarting_template(path: str, template: Object, kind: str) -> Errors:
    """Pods of a kind that runs for ever restart for ever, and have no deadline."""
    yield from check_template(path, template)
    pod = child(template, "spec")
    if pod.get("restartPolicy") != "Always":
        yield not_supported(f"{path}.spec.restartPolicy", pod.get("restartPolicy"), ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        says = f"activeDeadlineSeconds in {kind} is not Supported"
        yield forbidden_field(f"{path}.spec.activeDeadlineSeconds", says)


def count_or_share(path: str, obj: Object, key: str, *, most: bool = True) -> Errors:
    """A count, or a share which, if `most` says so, is at most all."""
    if (value := obj.get(key)) is None:
        return
    yield from int_or_percent(f"{path}.{key}", value)
    if most and isinstance(value, str) and not names.percent(value) and int(value[:-1]) > 100:
        yield invalid(f"{path}.{key}", value, "must not be greater than 100%")


def amount_of(value: int | str | None) -> int:
    """The number in a count or a share; what is neither counts as nothing."""
    if isinstance(value, str):
        digits = value.removesuffix("%")
        return int(digits) if digits.isdecimal() else 0
    return value or 0


def not_decremented(status: Object, old: Object, key: str) -> Errors:
    if old.get(key) is not None and (status.get(key) or 0) < old[key]:
        yield invalid(f"status.{key}", status.get(key) or 0, "cannot be decremented")
