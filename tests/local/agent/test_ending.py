"""The end of a pod on its machine: nothing of it is forgotten while something of it is there."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.harness.cluster import PATIENCE_S
from tidegate.kube.client import Client
from tidegate.local.agent.cgroups import Cgroups
from tidegate.local.agent.sandbox.objects import Awaited
from tidegate.local.agent.sandbox.problems import Missing
from tidegate.local.agent.work import folder as folders
from tidegate.local.agent.work.ending import Ending
from tidegate.local.agent.work.folder import Work
from tidegate.local.agent.work.processes import Runner

SANDBOX = {"namespaces": False, "hostname": "pod", "network": None, "tmpfs": []}


class Nobody:
    """A server that is not asked."""

    async def send(self, request: Any) -> Any:
        raise AssertionError("nobody is to be asked")


def ending() -> Ending:
    return Ending(Client(Nobody()), lambda uid: None, Cgroups(None, "none"))


def work_in(folder: Path) -> Work:
    work = Work("uid", "namespace", "pod", folder / "uid")
    work.save()
    return work


async def test_a_runner_that_comes_up_while_its_folder_is_removed_is_not_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent was killed while a runner it had begun was not there yet; the next one found none, removed the folder as
    far as it could and forgot the pod. On a busy machine the folder stayed, with a runner in it."""
    work, end = work_in(tmp_path), ending()
    remove, late = shutil.rmtree, True

    def comes_up_meanwhile(path: Path, **more: Any) -> None:
        nonlocal late
        remove(path, **more)
        if late and path == work.folder:
            late = False
            work.save()

    monkeypatch.setattr(folders.shutil, "rmtree", comes_up_meanwhile)
    assert await end.abandon(work) is False
    await work.runner.ensure(SANDBOX)
    async with asyncio.timeout(PATIENCE_S):
        while not await end.abandon(work):  # noqa: ASYNC110 - on disk
            await asyncio.sleep(0.05)  # As the agent looks again.
    assert not work.folder.exists()
    assert not work.runner.alive()


class Slow(Runner):
    """One that ends a while after it was told to, as on a busy machine."""

    async def ask(self, do: str, **request: Any) -> dict[str, Any]:
        if do != "close":
            return await super().ask(do, **request)
        self.ending = asyncio.create_task(self._end_later())
        return {"ok": True}

    async def _end_later(self) -> None:
        await asyncio.sleep(0.3)
        await super().ask("close")


async def test_when_all_pods_are_stopped_no_runner_is_left(tmp_path: Path) -> None:
    """They were told to end and not waited for: a moment after the demo was over something still ran in its folder."""
    work = work_in(tmp_path)
    work.runner = Slow(work.folder)
    await work.runner.ensure(SANDBOX)
    await ending().stop_all([(work, None)])
    assert not work.runner.alive()


async def test_who_waits_for_the_same_as_one_that_has_just_gone_is_told(tmp_path: Path) -> None:
    """The watch for the first was ending and was taken for the second's; then there was none, and when the second went,
    too, its end failed."""
    asked = asyncio.Event()

    class Silent:
        async def send(self, request: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

    awaited = Awaited(Client(Silent()))
    missing = Missing("CreateContainerConfigError", "Secret", "namespace", "password")
    awaited.wait(missing, "first", lambda uid: None)
    await asked.wait()
    asked.clear()
    awaited.forget("first")
    awaited.wait(missing, "second", lambda uid: None)
    async with asyncio.timeout(PATIENCE_S):
        await asked.wait()
    awaited.forget("second")
    awaited.close()
