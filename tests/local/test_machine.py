"""Starting this machine's control plane and node, and being interrupted while one does."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tidegate.local.machine import Machine


def test_ctrl_c_while_a_process_is_made_leaves_none_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was heard inside of Popen, after the fork: the control plane went on, and nobody had its number."""
    made: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def _get_handles(self, *given: object) -> object:
            made.append(self)
            os.kill(os.getpid(), signal.SIGINT)  # Any moment inside of Popen will do.
            return super()._get_handles(*given)  # type: ignore[misc]

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    machine = Machine(tmp_path / "data")
    with pytest.raises(KeyboardInterrupt):
        machine.up()
    (server,) = made
    assert server.returncode is not None, "it was ended and waited for"
    assert machine.running("control-plane") is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
