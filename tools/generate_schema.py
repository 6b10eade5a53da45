"""Writes what the embedded API server knows of Kubernetes' own kinds: src/tidegate/local/schema/kubernetes.json.

    python tools/generate_schema.py

Reads Kubernetes' published modules in the Go module cache: names of fields, their types, protobuf numbers and what
`omitempty` leaves out from the Go types; which fields are required, list and map types from the OpenAPI documents;
resources from the discovery documents. Only facts are taken over, no prose. The result is sorted, one definition a
line, so that the difference between two versions of Kubernetes can be read.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KUBERNETES = "1.36.3"
TARGET = Path(__file__).resolve().parents[1] / "src/tidegate/local/schema/kubernetes.json"

# Versions that are generally available: everything called v1, and the one v2.
SERVED = re.compile(r"v1|v2")

META = "k8s.io/apimachinery/pkg/apis/meta/v1"
EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
AGGREGATOR = "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
META_KINDS = ["DeleteOptions", "Status", "PartialObjectMetadata", "PartialObjectMetadataList"]

# Types whose JSON is not the JSON of their Go struct.
SPECIAL = {
    f"{META}.Time": "Time",
    f"{META}.MicroTime": "MicroTime",
    f"{META}.FieldsV1": "FieldsV1",
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "Quantity",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
    "k8s.io/apimachinery/pkg/runtime.RawExtension": "Raw",
    f"{EXTENSIONS}.JSON": "JSON",
    f"{EXTENSIONS}.JSONSchemaPropsOrBool": "SchemaOrBool",
    f"{EXTENSIONS}.JSONSchemaPropsOrArray": "SchemaOrArray",
    f"{EXTENSIONS}.JSONSchemaPropsOrStringArray": "SchemaOrStrings",
}
SCALARS = {"string", "bool", "int32", "int64", "float64"}

STRUCT = re.compile(r"^type (\w+) struct ?\{(?:\n(.*?)^)?\}", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"^type (\w+) ((?:\[\]|map\[\w+\])*[\w.]+)$", re.MULTILINE)
MEMBER = re.compile(r"^\s+(?:(\w+)\s+)?([\w.*\[\]]+)\s+`([^`]*)`", re.MULTILINE)
IMPORT = re.compile(r'^(?:import)?\s+(?:(\w+)\s+)?"([\w./-]+)"', re.MULTILINE)
ENUM = re.compile(r"^// \+enum\n(?://.*\n)*type (\w+) string$", re.MULTILINE)
CONSTANT = re.compile(r'^\s+\w+(?:\s+(\w+))?\s*=\s*(?:(\w+)\()?"([^"]*)"', re.MULTILINE)


@dataclass
class Package:
    """One Go package: its structs as written, with the imports of the file each stands in."""

    path: str
    structs: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    named: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)
    messages: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Member:
    """One line of a struct, and what its type's names refer to."""

    package: Package
    imports: dict[str, str]
    go_type: str
    tags: str


def read_package(folder: Path, path: str) -> Package:
    package = Package(path)
    proto = folder / "generated.proto"
    if proto.exists():
        package.messages = set(re.findall(r"^message (\w+) \{", proto.read_text(), re.MULTILINE))
    for file in sorted(folder.glob("*.go")):
        if file.name.endswith("_test.go") or file.name.startswith(("zz_", "generated")):
            continue
        text = file.read_text()
        values: dict[str, list[str]] = {}
        for typed, converted, value in CONSTANT.findall(text):
            values.setdefault(typed or converted, []).append(value)
        for name in ENUM.findall(text):
            # Some constants are made of others; a list without those would be wrong.
            if name in values and not re.search(rf'=\s*{name}\([^"]', text):
                package.enums[name] = sorted(values[name])
        text = re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)
        imports = {alias or target.rpartition("/")[2]: target for alias, target in IMPORT.findall(text)}
        package.structs |= {name: (body, imports) for name, body in STRUCT.findall(text)}
        package.named |= {name: (shape, imports) for name, shape in NAMED.findall(text)}
    return package


def openapi_name(package: str, name: str) -> str:
    return f"io.{package.replace('k8s.io/', 'k8s.', 1).replace('/', '.')}.{name}"


def tag(text: str, key: str) -> str:
    found = re.search(rf'\b{key}:"([^"]*)"', text)
    return found.group(1) if found else ""


def protobuf_number(tags: str) -> int:
    parts = tag(tags, "protobuf").split(",")
    return int(parts[1]) if len(parts) > 1 else 0


def written(go_name: str, json_name: str, options: list[str], tags: str) -> dict[str, Any]:
    """What the tags of a Go field say of it; what is usual is left out."""
    entry: dict[str, Any] = {"n": protobuf_number(tags)}
    if go_name != json_name[:1].upper() + json_name[1:]:
        entry["go"] = go_name
    if "omitzero" in options or "omitempty" not in options:
        entry["omit"] = "zero" if "omitzero" in options else "never"
    for key, short in (("patchStrategy", "patch"), ("patchMergeKey", "mergeKey")):
        if tag(tags, key):
            entry[short] = tag(tags, key)
    return entry


class Kubernetes:
    """The modules of one version of Kubernetes, and the definitions taken from them so far."""

    def __init__(self, modules: Path) -> None:
        self.modules = modules
        self.packages: dict[str, Package] = {}
        self.definitions: dict[str, dict[str, Any]] = {}
        self.openapi: dict[str, dict[str, Any]] = {}
        self.kinds: dict[str, str] = {}
        api = modules / f"kubernetes@v{KUBERNETES}" / "api"
        for file in sorted((api / "openapi-spec/v3").glob("api*_openapi.json")):
            self.openapi |= json.loads(file.read_text()).get("components", {}).get("schemas", {})
        self.discovery = sorted((api / "discovery").glob("api*__v*.json"))

    def package(self, path: str) -> Package:
        if path not in self.packages:
            module, _, inside = path.removeprefix("k8s.io/").partition("/")
            folder = self.modules / f"{module}@v0.{KUBERNETES.removeprefix('1.')}" / inside
            self.packages[path] = read_package(folder, path)
        return self.packages[path]

    def type_of(self, text: str, package: Package, imports: dict[str, str]) -> str:
        """A Go type in the file's notation: `*` pointer, `[]` list, `{}` map, `Name=` a named type, else a definition.

        `~` before a list says that protobuf wraps it in a message of its own, as it must for a list inside a map.
        """
        if text == "[]byte":
            return "bytes"
        for prefix in ("*", "[]"):
            if text.startswith(prefix):
                return prefix + self.type_of(text.removeprefix(prefix), package, imports)
        if text.startswith("map["):
            return "{}" + self.type_of(text.partition("]")[2], package, imports)
        if text in SCALARS:
            return text
        alias, _, name = text.rpartition(".")
        home = self.package(imports[alias]) if alias else package
        full = f"{home.path}.{name}"
        if full in SPECIAL:
            if SPECIAL[full].startswith("Schema"):
                self.define(home, "JSONSchemaProps")
            return SPECIAL[full]
        if name in home.named:
            shape, its_imports = home.named[name]
            wrapped = "~" if shape.startswith("[]") and name in home.messages else ""
            return f"{home.path.rpartition('/')[2]}.{name}={wrapped}{self.type_of(shape, home, its_imports)}"
        return self.define(home, name)

    def define(self, package: Package, name: str, around: dict[str, Any] | None = None) -> str:
        """Takes over a struct and all it reaches. `around` is where OpenAPI has the fields of an inlined struct."""
        full = openapi_name(package.path, name)
        if full in self.definitions:
            return full
        definition: dict[str, Any] = {"fields": {}}
        self.definitions[full] = definition
        described = self.openapi.get(full, around) or {}
        body, imports = package.structs[name]
        for go_name, go_type, tags in MEMBER.findall(body):
            member = Member(package, imports, go_type, tags)
            json_name, *options = tag(tags, "json").split(",")
            if "inline" in options:
                self.inline(definition, member, described)
            elif json_name != "-":
                entry = {"type": self.type_of(go_type, package, imports)} | written(go_name, json_name, options, tags)
                definition["fields"][json_name] = entry | self.facts(described, json_name, member)
        if full in self.openapi:
            self.name_kind(full, described)
            if "x-kubernetes-map-type" in described:
                definition["map"] = described["x-kubernetes-map-type"]
        return full

    def name_kind(self, full: str, described: dict[str, Any]) -> None:
        for gvk in described.get("x-kubernetes-group-version-kind", []):
            # Some kinds of meta/v1 are part of every group; one name is enough for them.
            if gvk["kind"] not in META_KINDS or not gvk["group"]:
                key = "/".join(part for part in (gvk["group"], gvk["version"], gvk["kind"]) if part)
                self.kinds[key] = full

    def inline(self, definition: dict[str, Any], member: Member, described: dict[str, Any]) -> None:
        """JSON has the fields of an embedded struct among its parent's; protobuf has a message of its own for them."""
        if member.go_type.endswith("TypeMeta"):
            # Protobuf has these in the envelope alone.
            version = {"type": "string", "n": 0, "go": "APIVersion"}
            definition["fields"] |= {"kind": {"type": "string", "n": 0}, "apiVersion": version}
            return
        alias, _, name = member.go_type.rpartition(".")
        home = self.package(member.imports[alias]) if alias else member.package
        embedded = {"n": protobuf_number(member.tags), "type": self.define(home, name, described)}
        definition.setdefault("inline", []).append(embedded)

    def facts(self, described: dict[str, Any], name: str, member: Member) -> dict[str, Any]:
        """What only OpenAPI (or a list of constants) says of a field."""
        facts: dict[str, Any] = {"required": True} if name in described.get("required", []) else {}
        node = described.get("properties", {}).get(name, {})
        for key, short in (("list-type", "list"), ("list-map-keys", "keys"), ("map-type", "map")):
            if f"x-kubernetes-{key}" in node:
                facts[short] = node[f"x-kubernetes-{key}"]
        # The zero of a field that is always shown only repeats that it is.
        shown = not member.go_type.startswith("*") and "omitempty" not in tag(member.tags, "json")
        if "default" in node and node["default"] != {} and not (shown and node["default"] in ("", 0, False)):
            facts["default"] = node["default"]
        alias, _, leaf = re.sub(r"^(?:\*|\[\]|map\[[\w.]+\])*", "", member.go_type).rpartition(".")
        home = self.package(member.imports[alias]) if alias else member.package
        enum = home.enums.get(leaf)
        return facts | ({"enum": enum} if enum else {})

    def resource(self, group: str, version: str, entry: dict[str, Any]) -> dict[str, Any]:
        kept = {key: entry[key] for key in ("kind", "name", "namespaced", "singularName", "verbs") if entry.get(key)}
        kept |= {key: entry[key] for key in ("shortNames", "categories") if key in entry}
        kept |= {"group": entry.get("group", group), "version": entry.get("version", version)}
        for kind in (entry["kind"], f"{entry['kind']}List"):
            self.define_kind(kept["group"], kept["version"], kind)
        return kept

    def define_kind(self, group: str, version: str, kind: str) -> None:
        home = {"apiextensions.k8s.io": EXTENSIONS, "apiregistration.k8s.io": AGGREGATOR}.get(group)
        folder = {"": "core", "flowcontrol.apiserver.k8s.io": "flowcontrol"}.get(group, group.partition(".")[0])
        package = self.package(home or f"k8s.io/api/{folder}/{version}")
        if kind in package.structs:
            self.define(package, kind)

    def resources(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for file in self.discovery:
            listing = json.loads(file.read_text())
            group, _, version = listing["groupVersion"].rpartition("/")
            if not SERVED.fullmatch(version):
                continue
            entries: dict[str, dict[str, Any]] = {}
            for entry in listing["resources"]:
                plural, _, below = entry["name"].partition("/")
                taken = self.resource(group, version, entry)
                if below:
                    entries[plural].setdefault("subresources", []).append(taken | {"name": below})
                else:
                    entries[plural] = taken
            found += entries.values()
        return found


def generate(modules: Path) -> str:
    kubernetes = Kubernetes(modules)
    meta = kubernetes.package(META)
    resources = kubernetes.resources()
    for kind in META_KINDS:
        kubernetes.define(meta, kind)

    def lines(entries: dict[str, Any]) -> str:
        return ",\n".join(f"{json.dumps(key)}:{compact(entries[key])}" for key in sorted(entries))

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"))

    listed = ",\n".join(compact(resource) for resource in resources)
    return (
        f'{{"kubernetes":"{KUBERNETES}",\n"resources":[\n{listed}\n],\n"kinds":{{\n{lines(kubernetes.kinds)}\n}},\n'
        f'"definitions":{{\n{lines(kubernetes.definitions)}\n}}}}\n'
    )


def module_cache() -> Path | None:
    """The folder with Kubernetes' modules, or None where there is no Go or they were never downloaded."""
    cache = os.environ.get("GOMODCACHE")
    if not cache:
        try:
            cache = subprocess.run(
                ["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None
    modules = Path(cache) / "k8s.io"
    return modules if (modules / f"kubernetes@v{KUBERNETES}").is_dir() else None


def main() -> int:
    modules = module_cache()
    if modules is None:
        print(f"Kubernetes {KUBERNETES} is not in the Go module cache. Run `make kube` first.", file=sys.stderr)
        return 1
    TARGET.write_text(generate(modules))
    print(f"{TARGET.name}: {TARGET.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
