"""Content negotiation: in which shape a client wants its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from tidegate.local.errors import ApiError

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA_TYPES = (JSON, YAML, PROTOBUF)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is wanted: objects as they are, or transformed (`Table`, `PartialObjectMetadata`, …)."""

    media: str = JSON
    transform: str = ""
    """The kind asked for with `as=`."""
    version: str = ""
    group: str = ""
    params: dict[str, str] = field(default_factory=dict)

    @property
    def content_type(self) -> str:
        if not self.transform:
            return self.media
        return f"{self.media};as={self.transform};v={self.version};g={self.group}"


PLAIN = Shape()
_META = ("v1", "v1beta1")
_TRANSFORMS = {"Table", "PartialObjectMetadata", "PartialObjectMetadataList"}


@lru_cache(maxsize=256)
def shape_of(accept: str, *, transforms: bool = True) -> Shape:
    """The first shape in the client's list that we can make. Protobuf answers are given as JSON: every client that
    asks for protobuf reads both, and is told by the Content-Type."""
    if not accept or accept in ("*/*", JSON):
        return PLAIN
    for clause in _clauses(accept):
        if clause.media in ("*/*", "application/*"):
            return PLAIN
        if clause.media not in MEDIA_TYPES:
            continue
        media = YAML if clause.media == YAML else JSON
        if clause.transform:
            ours = clause.version in _META and clause.group in ("", "meta.k8s.io")
            if transforms and ours and clause.transform in _TRANSFORMS:
                return Shape(media, clause.transform, clause.version, "meta.k8s.io")
            continue
        return Shape(media)
    raise not_acceptable()


def not_acceptable() -> ApiError:
    listed = ", ".join(MEDIA_TYPES)
    return ApiError(406, "NotAcceptable", f"only the following media types are accepted: {listed}", {})


def not_acceptable_kind(message: str) -> ApiError:
    return ApiError(406, "NotAcceptable", message, {})


def _clauses(accept: str) -> list[Shape]:
    found: list[tuple[float, int, Shape]] = []
    for order, clause in enumerate(accept.split(",")):
        media, *rest = [part.strip() for part in clause.split(";")]
        params = dict(part.partition("=")[::2] for part in rest if part)
        try:
            quality = float(params.pop("q", "1"))
        except ValueError:
            quality = 1.0
        shape = Shape(media, params.get("as", ""), params.get("v", ""), params.get("g", ""), params)
        found.append((-quality, order, shape))
    return [shape for _, _, shape in sorted(found, key=lambda entry: entry[:2])]


def wants(accept: str, kind: str, version: str) -> Shape | None:
    """The clause that asks for exactly this transform, if the client listed one (aggregated discovery)."""
    for clause in _clauses(accept):
        if clause.transform == kind and clause.version == version and clause.media == JSON:
            return clause
    return None
