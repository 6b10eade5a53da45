"""Programs of other schedulers: found, or the tests that need them are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.build_kube import assets, missing


def program(name: str) -> Path:
    """Where a program is."""
    if missing([name], assets()):
        pytest.skip(f"{name} is not built; `python tools/build_kube.py {name}` builds it (needs Go)")
    return assets() / name
