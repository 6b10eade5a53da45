"""`python -m tidegate.local.apiserver`: the control plane alone, in the foreground."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.kube.pauses import collect_rarely
from tidegate.local.access.identities import made, make_apart
from tidegate.local.lock import HeldError, hold

if TYPE_CHECKING:
    from tidegate.local.control_plane import Beside, Settings


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Tidegate's embedded Kubernetes API server, for one machine.")
    parser.add_argument("--data-dir", type=Path, required=True, help="folder for all state; made if it is not there")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: any free one)")
    return parser.parse_args()


async def serve(settings: Settings, beside: Beside | None = None) -> None:
    from tidegate.local.control_plane import ControlPlane

    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    plane = ControlPlane(settings, beside)
    await plane.start()
    collect_rarely()
    print(f"ready at {plane.url}; use: export KUBECONFIG={plane.kubeconfig}", flush=True)
    waits = [asyncio.create_task(stopped.wait()), asyncio.create_task(plane.failed.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in waits:
        task.cancel()
    await plane.stop()
    if plane.failed.is_set():
        raise SystemExit(1)


def run(data_dir: Path, host: str, port: int, beside: Beside | None = None) -> None:
    hold(data_dir / "control-plane.lock")
    # While the child makes certificates, if there are none yet, we load everything else.
    child = make_apart(data_dir / "pki", (host,))
    from tidegate.kube import loops
    from tidegate.local.control_plane import Settings

    made(child)
    loops.run(serve(Settings(data_dir, host, port), beside))


def main(beside: Beside | None = None) -> None:
    given = arguments()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        run(given.data_dir.resolve(), given.host, given.port, beside)
    except HeldError as held:
        where = f"{given.data_dir} (process {held.pid})"
        sys.exit(f"A control plane runs on {where} already. Stop it, or use another folder.")
    except OSError as error:
        sys.exit(f"The control plane cannot start: {error}. Choose another --port or --data-dir.")


if __name__ == "__main__":
    main()
