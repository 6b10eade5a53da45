"""A disk that is full: writers are told so in a sentence, readers are served, and all goes on once there is room."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tidegate.kube import resources as r
from tidegate.kube.client import StatusError
from tidegate.kube.wire import Object
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.server import SimulatedServer


def note(name: str) -> Object:
    return {"metadata": {"name": name, "namespace": "default"}, "data": {"text": name * 20_000}}


def test_who_writes_is_told_and_who_reads_is_served(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It said `OperationalError: see the server's log`, and the log had a traceback for every request."""

    async def story(loop: VirtualLoop) -> None:
        server = SimulatedServer(tmp_path, loop, Random(0))
        server.start(controllers=False)
        await server.client.create(r.NAMESPACES, {"metadata": {"name": "default"}})
        await server.client.create(r.CONFIGMAPS, note("before"))
        disk = server.store._log._writer
        (pages,) = disk.execute("PRAGMA page_count").fetchone()
        disk.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StatusError, match="it could not be stored: database or disk is full; make room") as full:
            await server.client.create(r.CONFIGMAPS, note("more"))
        assert full.value.code == 500
        assert (await server.client.get(r.CONFIGMAPS, "before", "default"))["data"]
        disk.execute(f"PRAGMA max_page_count={pages + 1000}")
        await server.client.create(r.CONFIGMAPS, note("after"))
        await server.stop()

    run(story)
    assert "Traceback" not in caplog.text
    assert caplog.text.count("was not stored") == 1
