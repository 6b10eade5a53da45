"""Compiles the scheduler where that is asked for: TIDEGATE_COMPILE=1 pip install .

The files are the same, compiled or not, and so is every Plan (`make test-compiled`); compiled they take about half the
time. It needs a C compiler. All else about the package is in pyproject.toml.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import setup

SCHEDULER = Path("src/tidegate/scheduler")
BORDER = {"__init__", "plan", "policies", "snapshot"}
"""What others make or extend stays as it is: values, and policies."""
NEEDED = ["mypy>=2.4", "msgspec>=0.22", "sortedcontainers>=2.4"]
"""The compiler, and whose types it has to know."""


def compile_scheduler() -> None:
    """What is not compiled imports what is, and the other way round; nobody can tell."""
    try:
        from mypyc.build import mypycify
    except ImportError:  # The first time it is only asked what is needed.
        setup(setup_requires=NEEDED)
        return
    sources = sorted(str(path) for path in SCHEDULER.rglob("*.py") if path.stem not in BORDER)
    setup(setup_requires=NEEDED, ext_modules=mypycify(sources, opt_level="3", debug_level="0"))


if os.environ.get("TIDEGATE_COMPILE") == "1":
    compile_scheduler()
else:
    setup()
