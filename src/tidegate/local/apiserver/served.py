"""`Served`: everything the server knows of one resource of one version, built in or defined by a CRD."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tidegate.kube.wire import Object
from tidegate.local.apiserver.fields import META, Getter
from tidegate.local.crds.scale import Scale
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.node import Schema
from tidegate.local.store import Row

_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


@dataclass(frozen=True, slots=True)
class Subresource:
    """`pods/log`, `deployments/scale` …: its own kind may be of another group."""

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body understood: the object, and what a strict reader would complain of."""

    obj: Object
    complaints: tuple[str, ...] = ()


@dataclass(eq=False)
class Served:
    """`decode` turns the bytes of a body (JSON, or YAML if so told) into an object of this kind, dropping what the kind
    does not have."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    strategy: Strategy
    load_schema: Callable[[], Schema]
    decode: Callable[[bytes, bool], Decoded]
    decode_value: Callable[[Object], Decoded]
    """The same for data already parsed, e.g. the outcome of a patch; changes it in place."""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    selectable: Mapping[str, Getter] = field(default_factory=lambda: META)
    custom: bool = False
    columns: tuple[Object, ...] | None = None
    """Printer columns of a CRD's version."""
    raw_schema: Object | None = None
    """Of a CRD's version: its schema as the user wrote it."""
    warning: str = ""
    """Said to whoever uses this version: it is deprecated."""
    refresh: Callable[[bytes], bytes] | None = None
    """Of a CRD's version with defaults: fills them into a value that was stored before revision `since`."""
    since: int = 0
    convert: Callable[[bytes], bytes] | None = None
    """Of a kind that is kept in the form of another group: a stored value in this one's."""
    scale: Scale | None = None
    """Of a CRD with `/scale`: where its counts are."""

    def __post_init__(self) -> None:
        self.list_kind = self.list_kind or f"{self.kind}List"
        self.prefix = f"{self.group or 'core'}/{self.plural}/"
        self.head = f'{{"kind":"{self.kind}","apiVersion":"{self.api_version}",'.encode()

    @cached_property
    def schema(self) -> Schema:
        return self.load_schema()

    @cached_property
    def whole_schema(self) -> Schema:
        """The schema with what every object has: that of a CRD may leave out kind, apiVersion and metadata."""
        if not self.custom:
            return self.schema
        typed = {"apiVersion": Schema("string"), "kind": Schema("string"), "metadata": builtin_schema(_METADATA)}
        return replace(self.schema, type="object", properties=self.schema.properties | typed)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def judged_group(self) -> str:
        """The group an object is of where it is judged: that of the form in which it is kept."""
        return self.group if self.convert is None else ""

    def key(self, namespace: str, name: str) -> str:
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else f"{self.prefix}{name}"

    def collection(self, namespace: str) -> str:
        """The prefix of all keys of a namespace, or of all."""
        return f"{self.prefix}{namespace}/" if self.namespaced and namespace else self.prefix

    def shown(self, row: Row) -> bytes:
        """A stored value as it reads now: fields that a CRD has defaults for since it was written have them."""
        if self.refresh is None or row.revision > self.since:
            return row.value
        return self.refresh(row.value)

    def rendered(self, value: bytes) -> bytes:
        """A stored value as an object of this version: values are kept without kind and apiVersion, which head it."""
        if self.convert is not None:
            value = self.convert(value)
        return self.head + value[1:] if value != b"{}" else self.head[:-1] + b"}"
