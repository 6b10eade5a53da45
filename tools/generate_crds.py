"""Writes what follows from the types in src/tidegate/model/kinds: deploy/crds/*.yaml and docs/reference/*.md; and the
reference of the command line.

python tools/generate_crds.py           writes them
python tools/generate_crds.py --check   says which are not current, and fails if any is not
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from tidegate.model.kinds import KINDS
from tidegate.model.schema.definition import definitions
from tidegate.model.schema.pages import index, page

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # As a program it does not see the folder it is in as a package.

from tools.generate_cli import page as command_line  # noqa: E402

MADE = "# Made by tools/generate_crds.py from the types in src/tidegate/model/kinds. Change those, not this.\n"


class _Dumper(yaml.SafeDumper):
    """Writes shared parts out in full: an anchor would have to be followed by everyone who reads the file."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def files() -> dict[Path, str]:
    """Everything that is generated: path below the root → content."""
    made = {
        Path("docs/reference/README.md"): index() + "\nThe [command line](command-line.md), command by command.\n",
        Path("docs/reference/command-line.md"): command_line(),
    }
    for definition in definitions():
        path = Path("deploy/crds") / f"{definition['metadata']['name']}.yaml"
        made[path] = MADE + yaml.dump(definition, Dumper=_Dumper, sort_keys=False, width=118, allow_unicode=True)
    for name, kind in KINDS.items():
        made[Path("docs/reference") / f"{name.lower()}.md"] = page(kind)
    return made


def outdated(root: Path = ROOT) -> list[Path]:
    """Generated files that are not as they would be written now, and files that nothing generates any more."""
    made = files()
    wrong = [path for path, text in made.items() if not (root / path).exists() or (root / path).read_text() != text]
    there = [*root.glob("deploy/crds/*"), *root.glob("docs/reference/*.md")]
    there.remove(root / "docs/reference/metrics.md")  # Made by tools/generate_deploy.py.
    return wrong + [path.relative_to(root) for path in there if path.relative_to(root) not in made]


def main() -> int:
    if "--check" in sys.argv[1:]:
        for path in outdated():
            print(f"{path} is not current; run python tools/generate_crds.py")
        return 1 if outdated() else 0
    for path, text in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
