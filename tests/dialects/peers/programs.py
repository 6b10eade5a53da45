"""Programs of other schedulers: found, or the tests that need them are left out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tools.build_kube import assets, missing

Ask = Callable[[Any], str]


def program(name: str) -> Path:
    """Where a program is."""
    if missing([name], assets()):
        pytest.skip(f"{name} is not built; `make peers` builds it and all others like it (needs Go)")
    return assets() / name


@contextmanager
def asked(name: str) -> Iterator[Ask]:
    """One program for all questions: each is a line of JSON, and so is the answer, or it is a sentence."""
    with subprocess.Popen(
        [str(program(name))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as running:
        assert running.stdin
        assert running.stdout
        to, answers = running.stdin, running.stdout

        def ask(question: Any) -> str:
            to.write(json.dumps(question) + "\n")
            to.flush()
            return answers.readline().strip()

        yield ask
        to.close()
        assert running.wait(timeout=10) == 0
