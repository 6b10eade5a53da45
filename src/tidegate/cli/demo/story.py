"""The story: a machine of its own, two tenants, and what becomes of their work."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from tidegate.cli.demo.happenings import Happenings
from tidegate.cli.demo.picture import Sample, used
from tidegate.cli.demo.screen import Screen
from tidegate.cli.demo.work import ANA, BEN, BOTH, SLOTS, Work, job, make_tenant, slot_millis
from tidegate.cli.errors import CommandError
from tidegate.cli.machine import WITH_OPERATOR
from tidegate.cli.queued.tables import document
from tidegate.controller.kinds import WORKLOADS
from tidegate.kube.client import Client, StatusError
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.informer import Informer
from tidegate.kube.resources import JOBS, PODS
from tidegate.local.machine import Machine, MachineError

Json = dict[str, Any]
_LOOK_S = 0.1
_ALONE_S = 5.0
"""How long Ana has the whole machine before Ben comes."""
_PATIENCE_S = 120.0


def demo(form: str = "table") -> int:
    """The exit status. For programs there is one document; what people see goes beside it."""
    if form != "table":
        with redirect_stdout(sys.stderr):
            story = _played()
        print(document(story.numbers(), form))
        return 0
    _played()
    print("Everything is stopped and removed. Your turn:\n")
    print("  tidegate run -- echo hello          a command, queued on this machine")
    print("  tidegate status --watch             who runs, who waits, and why")
    print("  tidegate up                         the same for kubectl, with its kubeconfig")
    return 0


def _played() -> Story:
    print("Starting a Kubernetes API server with queues, and a node, as two plain processes …", flush=True)
    with tempfile.TemporaryDirectory(prefix="tidegate-demo-") as folder, _running(Path(folder).resolve()) as machine:
        try:
            return asyncio.run(_tell(machine))
        except KeyboardInterrupt:
            print("\nStopping, and taking everything away …", flush=True)
            raise


@contextmanager
def _running(folder: Path) -> Iterator[Machine]:
    began = time.monotonic()
    machine = Machine(folder, program=WITH_OPERATOR)
    try:
        machine.up()
        print(f"Ready after {time.monotonic() - began:.1f} s.\n", flush=True)
        yield machine
    except MachineError as error:
        raise CommandError(str(error)) from None
    finally:
        machine.down()


async def _tell(machine: Machine) -> Story:
    client = connect(load_access(machine.kubeconfig, None), user_agent="tidegate-demo")
    try:
        async with asyncio.timeout(_PATIENCE_S):
            story = Story(client)
            await story.play()
            print("\n" + "\n".join(story.summary()) + "\n")
            return story
    except StatusError as error:
        raise CommandError(f"The API server refused: {error.message}. Please report this.") from None
    except TimeoutError:
        raise CommandError(f"It was not over within {_PATIENCE_S:.0f} s. The machine may be very busy.") from None
    finally:
        await client.close()


class Story:
    """Played once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._pods: Informer[Json] = Informer(client, PODS)
        self._workloads: Informer[Json] = Informer(client, WORKLOADS)
        self._happenings = Happenings()
        self._samples: list[Sample] = []
        self._began = time.monotonic()

    @property
    def _now_s(self) -> float:
        return time.monotonic() - self._began

    async def play(self) -> None:
        """Ana alone, then both, then Ana alone again."""
        millis = await slot_millis(self._client)
        for work in BOTH:
            await make_tenant(self._client, work.tenant)
        async with self._followed():
            self._began = time.monotonic()
            with Screen(self._happenings, self._samples) as screen:
                about = f"{ANA.tasks} tasks, an eighth of this machine each ({millis}m)"
                await self._put_in_line(ANA, millis, about)
                while not self._is_time_for_ben():
                    await self._look(screen)
                await self._put_in_line(BEN, millis, f"{BEN.pods} pods, all or none")
                while not all(one.done_s for one in self._happenings.told.values()):
                    await self._look(screen)

    def _is_time_for_ben(self) -> bool:
        ana = self._happenings.told[ANA.tenant]
        return ana.granted == SLOTS and ana.admitted_s is not None and self._now_s >= ana.admitted_s + _ALONE_S

    async def _put_in_line(self, work: Work, millis: int, about: str) -> None:
        self._happenings.say(self._now_s, f"{work.tenant} puts {work.name} in line: {about}")
        self._happenings.asked(work, self._now_s)
        await self._client.create(JOBS, job(work, millis))

    async def _look(self, screen: Screen) -> None:
        await asyncio.sleep(_LOOK_S)
        running = Counter(
            str(pod["metadata"]["namespace"])
            for pod in self._pods.all()
            if (pod.get("status") or {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
        )
        self._samples.append(Sample(self._now_s, dict(running)))
        screen.draw()

    @asynccontextmanager
    async def _followed(self) -> AsyncIterator[None]:
        def changed(old: Json | None, new: Json | None) -> None:
            if new is not None:
                self._happenings.heard(new, self._now_s)

        self._workloads.on_change(changed)
        tasks = [asyncio.create_task(self._pods.run()), asyncio.create_task(self._workloads.run())]
        try:
            await self._pods.synced()
            await self._workloads.synced()
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def summary(self) -> list[str]:
        """What it came to, in numbers."""
        ana, ben = (self._happenings.told[work.tenant] for work in BOTH)
        done_s, waited_s = max(ana.done_s or 0, ben.done_s or 0), (ben.admitted_s or 0) - (ben.asked_s or 0)
        back = ""
        if ana.back_s is not None and ben.done_s is not None:
            late_s = ana.back_s - ben.done_s
            back = f", had all again {f'{late_s:.1f} s after' if late_s >= 0.1 else 'as soon as'} he was done"
        evictions = ana.evictions + ben.evictions
        return [
            f"In {done_s:.0f} s, of {SLOTS} slots:",
            f"  {ana.work.title:<12}{ana.work.tasks} tasks done; held {ana.most} slots, gave {ana.given} to ben{back}",
            f"  {ben.work.title:<12}{ben.work.tasks} tasks done; waited {waited_s:.1f} s",
            f"  the machine was {used(self._samples):.0%} in use; {evictions} evictions",
        ]

    def numbers(self) -> Json:
        """The same for programs, with what happened when."""
        tenants = {
            name: {"tasks": one.work.tasks, "most": one.most, "gave": one.given, "evictions": one.evictions,
                   "askedSeconds": _tenth(one.asked_s), "admittedSeconds": _tenth(one.admitted_s),
                   "doneSeconds": _tenth(one.done_s)}
            for name, one in self._happenings.told.items()
        }  # fmt: skip
        happened = [{"atSeconds": _tenth(at_s), "what": what} for at_s, what in self._happenings.sentences]
        return {"slots": SLOTS, "inUse": round(used(self._samples), 3), "tenants": tenants, "happened": happened}


def _tenth(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 1)
