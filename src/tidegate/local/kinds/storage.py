"""Volumes and their classes, drivers and attachments; and the classes of container runtimes."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, required, too_long
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core.resources import requirements, round_up
from tidegate.local.kinds.core.volumes import csi_driver_name
from tidegate.local.kinds.metadata import check_labels
from tidegate.local.kinds.rules import (
    IMMUTABLE,
    Errors,
    child,
    items,
    maybe_one_of,
    name_of,
    needs,
    not_negative,
    same,
    unchanged,
    wrong,
)
from tidegate.local.kinds.selectors import tolerations


class StorageClass(BuiltIn):
    def default(self, obj: Object) -> None:
        for key, value in (("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate")):
            if obj.get(key) is None:
                obj[key] = value

    def check(self, obj: Object) -> Errors:
        yield from needs("", obj, "provisioner")
        if obj.get("reclaimPolicy"):
            yield from maybe_one_of("reclaimPolicy", obj["reclaimPolicy"], ("Delete", "Retain"))
        mode = obj.get("volumeBindingMode")
        yield from maybe_one_of("volumeBindingMode", mode, ("Immediate", "WaitForFirstConsumer"))

    def check_create(self, obj: Object) -> Errors:
        yield from self._check_long(obj)

    def _check_long(self, obj: Object) -> Errors:
        if provisioner := (obj.get("provisioner") or "").lower():
            yield from wrong("provisioner", provisioner, names.qualified_name(provisioner))
        parameters = obj.get("parameters") or {}
        if len(parameters) > 512:
            yield too_long("parameters", 512)
        elif sum(len(key) + len(value) for key, value in parameters.items()) > 256 * 1024:
            yield too_long("parameters", 256 * 1024)
        if "" in parameters:
            yield invalid("parameters", "", "field can not be empty.")
        yield from _topologies(obj)

    def check_update(self, obj: Object, old: Object) -> Errors:
        if any(obj.get(key) != old.get(key) for key in ("parameters", "provisioner")):
            yield from self._check_long(obj)
        yield from unchanged("", obj, old, "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def _topologies(obj: Object) -> Errors:
    # One empty place for each term is there before any is looked at, and an empty term equals it.
    seen: list[dict[str, set[str]]] = [{} for _ in obj.get("allowedTopologies") or ()]
    for index, term in enumerate(obj.get("allowedTopologies") or ()):
        path, chosen = f"allowedTopologies[{index}]", dict[str, set[str]]()
        for at, wanted in items(term, "matchLabelExpressions", path):
            key, values = wanted.get("key") or "", wanted.get("values") or []
            if not values:
                yield required(f"{at}.values")
            for place, value in enumerate(values):
                if value in values[:place]:
                    yield duplicate(f"{at}.values[{place}]", value)
            yield from wrong(f"{at}.key", key, names.qualified_name(key))
            if key in chosen:
                yield duplicate(f"{at}.key", key)
            chosen[key] = set(values)
        for other in seen:
            if other == chosen:
                yield duplicate(f"{path}.matchLabelExpressions", "")
        seen.append(chosen)


class CSIDriver(BuiltIn):
    unconditional_update = False

    def default(self, obj: Object) -> None:
        values = {
            "attachRequired": True,
            "podInfoOnMount": False,
            "storageCapacity": False,
            "fsGroupPolicy": "ReadWriteOnceWithFSType",
            "requiresRepublish": False,
            "seLinuxMount": False,
        }
        spec = obj.setdefault("spec", {})
        for key, value in values.items():
            spec[key] = value if spec.get(key) is None else spec[key]
        spec["volumeLifecycleModes"] = spec.get("volumeLifecycleModes") or ["Persistent"]

    def prepare_update(self, obj: Object, old: Object) -> None:
        # It starts without a generation, and has one from its first change on.
        if not same(obj.get("spec"), old.get("spec")):
            obj["metadata"]["generation"] = (child(old, "metadata").get("generation") or 0) + 1

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        policies = ("File", "None", "ReadWriteOnceWithFSType")
        yield from maybe_one_of("spec.fsGroupPolicy", spec.get("fsGroupPolicy"), policies)
        seen: set[str] = set()
        for at, request in items(spec, "tokenRequests", "spec"):
            audience, seconds = request.get("audience") or "", request.get("expirationSeconds")
            if audience in seen:
                yield duplicate(f"{at}.audience", audience)
            elif seconds is not None and seconds < 600:
                says = "may not specify a duration less than 10 minutes"
                yield invalid(f"{at}.expirationSeconds", seconds, says)
            seen.add(audience)
        for mode in spec.get("volumeLifecycleModes") or ():
            yield from maybe_one_of("spec.volumeLifecycleModes", mode, ("Persistent", "Ephemeral"))

    def check_update(self, obj: Object, old: Object) -> Errors:
        spec, before = child(obj, "spec"), child(old, "spec")
        if spec.get("attachRequired") != before.get("attachRequired"):
            yield invalid("spec.attachedRequired", spec.get("attachRequired"), "field is immutable")
        yield from unchanged("spec", spec, before, "volumeLifecycleModes")


class CSINode(BuiltIn):
    unconditional_update = False

    def check(self, obj: Object) -> Errors:
        seen: set[str] = set()
        for at, driver in items(child(obj, "spec"), "drivers", "spec"):
            name, node = driver.get("name") or "", driver.get("nodeID") or ""
            yield from csi_driver_name(f"{at}.name", name)
            yield from needs(at, driver, "nodeID")
            if len(node) > 256:
                yield invalid(f"{at}.nodeID", node, "must be 256 characters or less")
            yield from not_negative(f"{at}.allocatable", child(driver, "allocatable"), "count")
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
            keys = driver.get("topologyKeys") or []
            for index, key in enumerate(keys):
                if not key:
                    yield required(at, key)
                if key in keys[:index]:
                    yield duplicate(at, key)
                yield from wrong(at, key, names.qualified_name(key))

    def check_update(self, obj: Object, old: Object) -> Errors:
        before = {driver.get("name"): driver for driver in child(old, "spec").get("drivers") or ()}
        for driver in child(obj, "spec").get("drivers") or ():
            was = before.get(driver.get("name"))
            if was is not None and not same(driver | {"allocatable": None}, was | {"allocatable": None}):
                yield invalid("spec.drivers", driver, IMMUTABLE)


class VolumeAttachment(BuiltIn):
    has_status = True
    unconditional_update = False

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"attached": False}

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        source, name = child(spec, "source"), child(spec, "source").get("persistentVolumeName")
        yield from csi_driver_name("spec.attacher", spec.get("attacher") or "")
        if name is None and source.get("inlineVolumeSpec") is None:
            yield required("spec.source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName")
        elif name == "":
            yield required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")
        if name is not None:
            yield from wrong("spec.source.persistentVolumeName", name, names.dns_subdomain(name))
        node = spec.get("nodeName") or ""
        yield from wrong("spec.nodeName", node, names.dns_subdomain(node))

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("", obj, old, "spec")


class RuntimeClass(BuiltIn):
    creates_on_update = True
    unconditional_update = False

    def default(self, obj: Object) -> None:
        round_up(child(obj, "overhead").get("podFixed"))

    def check(self, obj: Object) -> Errors:
        yield from name_of("handler", obj.get("handler") or "")
        if (fixed := child(obj, "overhead").get("podFixed")) is not None:
            yield from requirements("overhead", {"limits": fixed})
        scheduling = child(obj, "scheduling")
        yield from check_labels("scheduling.nodeSelector", scheduling.get("nodeSelector") or {})
        yield from tolerations("scheduling.tolerations", scheduling.get("tolerations") or [])
        seen: list[Object] = []
        for at, toleration in items(scheduling, "tolerations", "scheduling"):
            key = {field: value for field, value in toleration.items() if field != "tolerationSeconds" and value}
            if key in seen:
                yield duplicate(at, toleration)
            seen.append(key)

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("", obj, old, "handler")
