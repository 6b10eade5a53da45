"""Manifests from files, and back to the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tidegate.cli.errors import CommandError
from tidegate.dialects import Fate, Note

Json = dict[str, Any]


def documents(files: Iterable[str | Path]) -> list[Json]:
    """All documents of all files, in order; what is in a List stands for itself."""
    return [one for file in files for document in _read(str(file)) for one in _items(document, str(file))]


def content(file: Path) -> Any:
    """The one document of a file."""
    found = _read(str(file))
    if len(found) != 1:
        raise CommandError(f"{file} has {len(found)} documents. Give a file with one.")
    return found[0]


def _read(file: str) -> list[Any]:
    import yaml

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CommandError(f"{file} is not there. Give the path of a manifest.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}. Give a text file you may read.") from None
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} cannot be read: {error}. Give a text file in UTF-8.") from None
    try:
        return [one for one in yaml.safe_load_all(text) if one is not None]
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise CommandError(f"{file} is not YAML: {said}. Correct it there.") from None
    except RecursionError:
        raise CommandError(f"{file} is nested too deeply to be a manifest. Make it flatter.") from None


def _items(document: Any, file: str) -> Iterator[Json]:
    if not isinstance(document, Mapping):
        raise CommandError(f"{file} has a document that is not an object. Begin it with apiVersion and kind.")
    if str(document.get("kind")).endswith("List") and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _items(item, file)
    else:
        yield dict(document)


def show(objects: Iterable[Any], notes: Iterable[Note], *, output: str, explain: bool) -> None:
    """Objects on standard output. Notes are comments before YAML; beside JSON, which has none, they go to standard
    error. Without `explain`, what was dropped is counted there, so that nothing is lost in silence."""
    listed, said = list(objects), list(notes)
    if explain:
        where = sys.stdout if output == "yaml" else sys.stderr
        for line in map(str, said) if said else ["nothing was lost or changed"]:
            print(f"# {line}", file=where)
    elif dropped := sum(note.fate is Fate.DROPPED for note in said):
        things = "1 thing" if dropped == 1 else f"{dropped} things"
        print(f"tidegate: {things} could not be carried over; --explain says which.", file=sys.stderr)
    print({"json": _json, "yaml": _yaml, "table": _table}[output](listed), end="")


def _table(objects: list[Any]) -> str:
    """What there is, by name; the whole is in YAML and JSON."""
    from tidegate.cli.queued.tables import table

    rows = [("KIND", "NAMESPACE", "NAME")]
    for each in objects:
        meta = each.get("metadata") or {}
        rows.append((str(each.get("kind") or "-"), str(meta.get("namespace") or "-"), str(meta.get("name") or "-")))
    return table(rows) + "\n"


def _json(objects: list[Any]) -> str:
    whole = objects[0] if len(objects) == 1 else {"apiVersion": "v1", "kind": "List", "items": objects}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _yaml(objects: list[Any]) -> str:
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes everything out: anchors are hard to read, and some readers of manifests do not take them."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump_all(objects, Dumper=Plain, sort_keys=False, allow_unicode=True, width=1000)
