"""CustomResourceDefinitions: what one means, what is filled in, and what the server writes into its status.

Objects are changed only by `default_crd` and `prepare_*`, in place, as they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.objects import CustomResource
from tidegate.local.crds.scale import Scale

GROUP = "apiextensions.k8s.io"


@dataclass(frozen=True)
class Version:
    """One version of a definition."""

    name: str
    served: bool
    storage: bool
    raw: Object
    """Its openAPIV3Schema; empty if it has none."""
    has_status: bool
    scale: Scale | None
    columns: tuple[Object, ...]
    """Printer columns as written; a table adds the name before them, and the age if there are none."""
    selectable: tuple[str, ...]
    """Paths that field selectors may use, such as `.spec.color`."""
    warning: str
    """What users of a deprecated version are told; empty if it is not deprecated."""


@dataclass(frozen=True)
class Definition:
    """A definition, read. Names are those accepted for serving where the status has them, else those asked for."""

    name: str
    group: str
    kind: str
    list_kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    namespaced: bool
    preserve_unknown: bool
    established: bool
    versions: dict[str, Version]

    @classmethod
    def parse(cls, crd: Object) -> Definition:
        spec, status = crd["spec"], crd.get("status") or {}
        accepted = status.get("acceptedNames") or {}
        names = accepted if accepted.get("plural") else spec["names"]
        versions = [_version(raw, spec) for raw in spec["versions"]]
        return cls(
            name=crd["metadata"]["name"],
            group=spec["group"],
            kind=names["kind"],
            list_kind=names.get("listKind") or f"{names['kind']}List",
            plural=names["plural"],
            singular=names.get("singular") or names["kind"].lower(),
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            namespaced=spec["scope"] == "Namespaced",
            preserve_unknown=bool(spec.get("preserveUnknownFields")),
            established=condition(crd, "Established").get("status") == "True",
            versions={version.name: version for version in versions},
        )

    @cached_property
    def storage_version(self) -> str:
        return next(version.name for version in self.versions.values() if version.storage)

    def resource(self, version: str) -> CustomResource:
        """The rules for objects of one version; made once and kept."""
        if version not in self._resources:
            chosen = self.versions[version]
            self._resources[version] = CustomResource(
                f"{self.group}/{version}", self.kind, chosen.raw, chosen.scale, self.preserve_unknown
            )
        return self._resources[version]

    @cached_property
    def _resources(self) -> dict[str, CustomResource]:
        return {}

    def converted(self, obj: Object, version: str) -> Object:
        """The same object in another version: with conversion None only its apiVersion changes."""
        return obj | {"apiVersion": f"{self.group}/{version}"}


def _version(raw: Object, spec: Object) -> Version:
    subresources = raw.get("subresources") or {}
    warning = ""
    if raw.get("deprecated"):
        said = f"{spec['group']}/{raw['name']} {spec['names']['kind']} is deprecated"
        warning = raw.get("deprecationWarning") or said
    return Version(
        name=raw["name"],
        served=bool(raw.get("served")),
        storage=bool(raw.get("storage")),
        raw=(raw.get("schema") or {}).get("openAPIV3Schema") or {},
        has_status=subresources.get("status") is not None,
        scale=Scale.parse(subresources["scale"]) if subresources.get("scale") else None,
        columns=tuple(raw.get("additionalPrinterColumns") or ()),
        selectable=tuple(field["jsonPath"] for field in raw.get("selectableFields") or ()),
        warning=warning,
    )


def default_crd(crd: Object) -> None:
    """Fills in what a definition leaves out, in place: singular, listKind, conversion, the first stored version."""
    spec = crd.setdefault("spec", {})
    names = spec.setdefault("names", {})
    kind = names.get("kind") or ""
    if not names.get("singular") and kind:
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = ((spec["conversion"].get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None and service.get("port") is None:
        service["port"] = 443
    if crd.get("status") and not crd["status"].get("storedVersions"):
        crd["status"]["storedVersions"] = _storage(spec)


def prepare_create(crd: Object) -> None:
    """Gives a new definition its first status, whatever it came with."""
    crd["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": _storage(crd["spec"]),
    }


def prepare_update(crd: Object, old: Object) -> None:
    """Puts back the status and adds a new storage version to the stored ones."""
    status = dict(old.get("status") or {})
    stored = list(status.get("storedVersions") or ())
    status["storedVersions"] = stored + [name for name in _storage(crd["spec"]) if name not in stored]
    crd["status"] = status


def _storage(spec: Object) -> list[str]:
    return [version["name"] for version in spec.get("versions") or () if version.get("storage")][:1]


def condition(crd: Object, kind: str) -> dict[str, Any]:
    """The condition of that type, empty if there is none."""
    found = (crd.get("status") or {}).get("conditions") or ()
    return next((held for held in found if held.get("type") == kind), {})
