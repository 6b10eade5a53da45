"""Without a mount namespace a mount path is not there: it is replaced by the sandbox folder wherever it is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any


def rewriter(mounts: list[dict[str, Any]]) -> Callable[[str], str]:
    """A function that replaces each mount path, on path borders and the longest first, by where the volume is."""
    places: Mapping[str, str] = {
        each["target"].rstrip("/"): each["source"] for each in mounts if each["target"].rstrip("/") != each["source"]
    }
    if not places:
        return lambda text: text
    paths = "|".join(re.escape(path) for path in sorted(places, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.~/-])({paths})(?![\w.-])")
    return lambda text: pattern.sub(lambda match: places[match[1]], text)
