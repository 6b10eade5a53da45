"""What follows from the types in src/tidegate/model/kinds: the CRDs in deploy/crds and the pages of docs/reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tidegate.model.kinds import KINDS
from tidegate.model.schema.definition import definitions
from tidegate.model.schema.pages import index, page

MADE = "# Made by tools/generate from the types in src/tidegate/model/kinds. Change those, not this.\n"


class _Dumper(yaml.SafeDumper):
    """Writes shared parts out in full: an anchor would have to be followed by everyone who reads the file."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def files() -> dict[Path, str]:
    """Path below the root → content."""
    made = {Path("docs/reference/README.md"): index() + "\nThe [command line](command-line.md), command by command.\n"}
    for definition in definitions():
        path = Path("deploy/crds") / f"{definition['metadata']['name']}.yaml"
        made[path] = MADE + yaml.dump(definition, Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)
    for name, kind in KINDS.items():
        made[Path("docs/reference") / f"{name.lower()}.md"] = page(kind)
    return made
