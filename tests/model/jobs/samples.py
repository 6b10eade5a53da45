"""One object of every kind, by kind."""

from __future__ import annotations

import copy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

Json = Any


@lru_cache(maxsize=1)
def _samples() -> dict[str, Json]:
    listed = yaml.safe_load((Path(__file__).parent / "samples.yaml").read_text())
    return {obj["kind"]: obj for obj in listed}


def sample(kind: str) -> Json:
    """A copy of the kind's sample, to be changed at will."""
    return copy.deepcopy(_samples()[kind])


KINDS = tuple(_samples())
