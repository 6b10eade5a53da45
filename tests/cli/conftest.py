"""A machine with queues, started as its users start it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.test_commands import tidegate


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("queued")
    assert tidegate("up", "--data-dir", str(folder)).returncode == 0
    yield str(folder / "kubeconfig")
    tidegate("down", "--data-dir", str(folder))
