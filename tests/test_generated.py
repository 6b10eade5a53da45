"""What is written from the code is what the code says now."""

from __future__ import annotations

from tools.generate import outdated


def test_generated_files_are_current() -> None:
    assert outdated() == []
