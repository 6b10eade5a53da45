"""The runner of one pod, without any agent or server: starts, logs, ends, kills, and remembers."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.local.agent.node import processes_with
from tidegate.local.agent.runner.records import Record
from tidegate.local.agent.sandbox import network
from tidegate.local.agent.work.processes import Launch, Runner, RunnerError, sweep


@pytest.fixture(params=["namespaces", "loopback"])
def namespaces(request: pytest.FixtureRequest) -> bool:
    if request.param == "namespaces" and not network.probe("auto").namespaces:
        pytest.skip("this user may not make namespaces")
    return bool(request.param == "namespaces")


@pytest.fixture
async def runner(tmp_path: Path, namespaces: bool) -> AsyncIterator[Runner]:
    runner = Runner(tmp_path)
    await runner.ensure({"namespaces": namespaces, "hostname": "pod", "network": None, "tmpfs": []})
    yield runner
    try:
        for record in runner.records():
            await runner.ask("stop", container=record["container"], grace_s=0)
        await runner.ask("close")
    except RunnerError:
        return
    for _ in range(100):
        if not runner.alive():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the runner did not end")


def launch(runner: Runner, script: str, namespaces: bool, **more: object) -> Launch:
    env = {"PATH": os.environ["PATH"]}
    wanted = {"argv": ["sh", "-c", script], "env": env, "cwd": str(runner.folder / "work"), "mounts": []}
    wanted |= {"log": str(runner.folder / "log"), "log_bytes": 1 << 20, "log_files": 2}
    wanted |= {"staging": str(runner.folder / "staging"), "namespaces": namespaces}
    return Launch(**(wanted | more))  # type: ignore[arg-type]


async def ended(runner: Runner, container: str = "c") -> Record:
    for _ in range(400):
        found = [each for each in runner.records() if each["container"] == container]
        if found and found[-1]["state"] == "exited":
            return found[-1]
        await asyncio.sleep(0.05)
    raise AssertionError("the container did not end")


async def up(runner: Runner) -> None:
    """Once the script has made its file `up`: what it does to signals it has done by then."""
    for _ in range(400):
        if await asyncio.to_thread((runner.folder / "work" / "up").exists):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the script did not come so far")


async def test_a_runner_whose_starter_is_cancelled_is_there_when_the_cancelling_is_done(tmp_path: Path) -> None:
    """An agent that is stopped while a pod starts must find the runner, to end it: one that came later would stay."""
    runner = Runner(tmp_path)
    starting = asyncio.create_task(
        runner.ensure({"namespaces": False, "hostname": "pod", "network": None, "tmpfs": []})
    )
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert runner.alive()
    await runner.ask("close")


async def test_a_runner_whose_folder_was_removed_while_it_came_up_is_found(tmp_path: Path) -> None:
    """An agent was killed that had begun it, and the next removed the folder of a pod that was gone: nothing in it said
    any more that there was a runner, and it stayed for ever."""
    folder = tmp_path / "uid-of-a-pod"
    folder.mkdir()
    await Runner(folder).ensure({"namespaces": False, "hostname": "pod", "network": None, "tmpfs": []})
    shutil.rmtree(folder)
    assert processes_with(str(folder))
    sweep("uid-of-a-pod")
    for _ in range(100):
        if not processes_with(str(folder)):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the runner was left behind")


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 42", 42), ("kill -9 $$", 137), ("kill -TERM $$; sleep 9", 143)]
)
async def test_exit_codes_are_true(runner: Runner, namespaces: bool, script: str, code: int) -> None:
    """Also those of signals."""
    await runner.start("c", 0, launch(runner, script, namespaces), {})
    assert (await ended(runner))["code"] == code


async def test_the_same_attempt_is_never_started_twice(runner: Runner, namespaces: bool) -> None:
    """Whoever asks, and however often, also after it ended."""
    wanted = launch(runner, "echo ran >> count", namespaces)
    for _ in range(3):
        await runner.start("c", 0, wanted, {})
    await ended(runner)
    await runner.start("c", 0, wanted, {})
    await asyncio.sleep(0.2)
    assert await asyncio.to_thread((runner.folder / "work" / "count").read_text) == "ran\n"


async def test_a_second_runner_leaves_the_pod_to_the_first(runner: Runner, namespaces: bool) -> None:
    """The lock of the pod's folder decides."""
    await runner.start("c", 0, launch(runner, "sleep 100", namespaces), {})
    await Runner(runner.folder).ensure({"namespaces": namespaces, "hostname": "pod", "network": None, "tmpfs": []})
    assert runner.records()[0]["state"] == "running"
    assert (await runner.ask("watch"))["running"][0]["container"] == "c"


async def test_nobody_outlives_the_container(runner: Runner, namespaces: bool) -> None:
    """Not even a process that left its session and was adopted."""
    marker = str(1_000_000_000 + os.getpid())
    await runner.start("c", 0, launch(runner, f"(setsid sleep {marker} &) ; sleep 0.2; exit 5", namespaces), {})
    assert (await ended(runner))["code"] == 5
    assert processes_with(f"sleep {marker}") == []


async def test_a_shell_that_dies_of_the_signal_leaves_its_program_time_to_end(runner: Runner, namespaces: bool) -> None:
    """The program gets the signal too, and the container waits for it."""
    inner = "trap 'sleep 0.3; echo ended well > done; exit 0' TERM; echo up > up; while true; do sleep 0.05; done"
    await runner.start("c", 0, launch(runner, f'sh -c "{inner}"; true', namespaces), {})
    await up(runner)
    await runner.ask("stop", container="c", grace_s=10)
    assert (await ended(runner))["code"] == 143
    assert await asyncio.to_thread((runner.folder / "work" / "done").exists)


async def test_the_grace_period_runs_out_without_an_agent(runner: Runner, namespaces: bool) -> None:
    """The runner itself kills what ignores the signal."""
    await runner.start("c", 0, launch(runner, "trap '' TERM; touch up; sleep 100", namespaces), {})
    await up(runner)
    await runner.ask("stop", container="c", grace_s=0.3)
    assert (await ended(runner))["code"] == 137


async def test_a_container_that_ends_before_it_heard_its_runner_takes_nobody_with_it(
    runner: Runner, namespaces: bool
) -> None:
    """The kernel tells the runner that its word was lost; it took that for its own end, and how this container and its
    neighbours ended was never known. A signal that comes as a process ends by itself is enough, on a busy machine."""
    await runner.start("neighbour", 0, launch(runner, "touch up; sleep 100", namespaces), {})
    await runner.start("c", 0, launch(runner, "sleep 100", namespaces), {})
    await up(runner)
    init = next(each for each in runner.records() if each["container"] == "c")["pid"]
    os.kill(init, signal.SIGSTOP)
    await runner.ask("signal", container="c", number=signal.SIGTERM)
    os.kill(init, signal.SIGKILL)
    assert (await ended(runner))["code"] == 137
    running = (await runner.ask("watch"))["running"]
    assert [each["container"] for each in running] == ["neighbour"]


async def test_a_program_that_cannot_start_says_why(runner: Runner, namespaces: bool) -> None:
    await runner.start("c", 0, launch(runner, "", namespaces, argv=["no-such-program"]), {})
    record = await ended(runner)
    assert (record["reason"], record["code"]) == ("StartError", 128)
    assert "no-such-program" in record["message"]


async def test_signals_reach_the_process(runner: Runner, namespaces: bool) -> None:
    """As Spark's decommissioning needs it."""
    script = "trap 'exit 9' PWR; touch up; while true; do sleep 0.05; done"
    await runner.start("c", 0, launch(runner, script, namespaces), {})
    await up(runner)
    await runner.ask("signal", container="c", number=signal.SIGPWR)
    assert (await ended(runner))["code"] == 9


async def test_volumes_are_mounted_where_the_machine_has_no_folder(
    runner: Runner, namespaces: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """And what is beside them stays visible; nothing is made on the machine's own disk."""
    if not namespaces:
        pytest.skip("mounts need a mount namespace")
    source = tmp_path_factory.mktemp("volume")
    (source / "file").write_text("inside\n")
    targets = ["/no-such-root-folder/a", "/usr/share/no-such-folder/b"]
    mounts = [{"source": str(source), "target": target, "readOnly": True} for target in targets]
    script = f"cat {targets[0]}/file {targets[1]}/file; ls /usr/share | wc -l; touch {targets[0]}/x || echo read only"
    before = len(os.listdir("/usr/share"))  # noqa: PTH208
    await runner.start("c", 0, launch(runner, script, namespaces, mounts=mounts), {})
    await ended(runner)
    log = await asyncio.to_thread((runner.folder / "log").read_text)
    texts = [line.split(" ", 3)[3] for line in log.splitlines() if " stdout " in line]
    assert texts == ["inside", "inside", str(before + 1), "read only"]
    assert not any(Path(target).is_dir() for target in targets)  # noqa: ASYNC240
