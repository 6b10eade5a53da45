"""How objects are converted between versions, and with whose leave Kubernetes' own groups are used."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from tidegate.kube.wire import Object
from tidegate.local.crds.values import formats
from tidegate.local.errors import FieldError, forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names

_APPROVED = "api-approved.kubernetes.io"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


def one_of(place: str, value: str, accepted: tuple[str, ...]) -> Iterator[FieldError]:
    if not value:
        yield required(place)
    elif value not in accepted:
        yield not_supported(place, value, accepted)


def conversion_errors(conversion: Object) -> Iterator[FieldError]:
    if not conversion:
        return
    yield from one_of("spec.conversion.strategy", conversion.get("strategy") or "", ("None", "Webhook"))
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    place = "spec.conversion.webhookClientConfig"
    if conversion.get("strategy") != "Webhook":
        said = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden_field(place, said)
        if reviews:
            yield forbidden_field("spec.conversion.conversionReviewVersions", said)
        return
    if client is None:
        yield required(place, "required when strategy is set to Webhook")
    elif (client.get("url") is None) == (client.get("service") is None):
        yield required(place, "exactly one of url or service is required")
    elif client.get("url") is not None:
        yield from _webhook_url(client["url"], f"{place}.url")
    else:
        for key in ("name", "namespace"):
            if not client["service"].get(key):
                yield required(f"{place}.service.{key}")
    yield from _review_versions(reviews, "spec.conversion.conversionReviewVersions")


def _webhook_url(url: str, place: str) -> Iterator[FieldError]:
    form = "; desired format: https://host[/path]"
    split = urlsplit(url)
    if split.scheme != "https":
        yield invalid(place, split.scheme, f"'https' is the only allowed URL scheme{form}")
    if not split.netloc:
        yield invalid(place, "", f"host must be specified{form}")
    if "@" in split.netloc:
        yield invalid(place, split.netloc.partition("@")[0], "user information is not permitted in the URL")
    if split.fragment:
        yield invalid(place, split.fragment, "fragments are not permitted in the URL")
    if split.query:
        yield invalid(place, split.query, "query parameters are not permitted in the URL")


def _review_versions(versions: list[str], place: str) -> Iterator[FieldError]:
    if not versions:
        yield required(place)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"{place}[{index}]", version, "duplicate version")
            continue
        for said in names.dns_1035_label(version):
            yield invalid(f"{place}[{index}]", version, said)
    if not {"v1", "v1beta1"} & set(versions):
        yield invalid(place, versions, "must include at least one of v1, v1beta1")


def approval_errors(crd: Object, old: Object | None) -> Iterator[FieldError]:
    """Kubernetes' own groups are for Kubernetes: who uses them says with whose leave."""
    group = crd["spec"].get("group") or ""
    if not f".{group}".endswith((".k8s.io", ".kubernetes.io")):
        return
    text = _approval_text(crd)
    if old is not None and _approval_state(_approval_text(old)) == _approval_state(text):
        return
    place = f"metadata.annotations[{_APPROVED}]"
    state = _approval_state(text)
    if state == "missing":
        yield required(place, f'protected groups must have approval annotation "{_APPROVED}", {_SEE}')
    elif state == "invalid":
        said = (
            f'protected groups must have approval annotation "{_APPROVED}" with either a URL or a reason starting with'
        )
        yield invalid(place, text, f'{said} "unapproved", {_SEE}')


def _approval_text(crd: Object) -> str:
    return (crd["metadata"].get("annotations") or {}).get(_APPROVED) or ""


def _approval_state(text: str) -> str:
    if not text:
        return "missing"
    if text.startswith("unapproved"):
        return "bypassed"
    split = urlsplit(text)
    return "approved" if formats.is_uri(text) and split.netloc and split.scheme else "invalid"
