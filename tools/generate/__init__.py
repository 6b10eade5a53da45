"""Files of the repository that follow from the code, so that neither can say what the other does not.

python -m tools.generate           writes them
python -m tools.generate --check   says which are not current, and fails if any is not
"""

from __future__ import annotations

from pathlib import Path

from tools.generate import chart, command_line, installation, kinds

ROOT = Path(__file__).resolve().parents[2]


def files() -> dict[Path, str]:
    """Everything that is generated: path below the root → content."""
    return kinds.files() | installation.files() | chart.files() | command_line.files()


def outdated(root: Path = ROOT) -> list[Path]:
    """Generated files that are not as they would be written now, and files that nothing generates any more."""
    made = files()
    wrong = [path for path, text in made.items() if not (root / path).exists() or (root / path).read_text() != text]
    places = ("deploy/crds/*", "deploy/chart/**/*.*", "docs/reference/*.md")
    there = [path.relative_to(root) for place in places for path in root.glob(place)]
    return wrong + [path for path in there if path not in made]


def write(root: Path = ROOT) -> None:
    for path, text in files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
