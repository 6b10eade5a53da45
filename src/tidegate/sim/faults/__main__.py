"""`python -m tidegate.sim.faults SEED` replays one history; `FIRST LAST` plays many, and says which broke."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from dataclasses import dataclass, field

from tidegate.sim.faults.playing import Broken, History, busy_hour, play

_INTERRUPTED = 130
_EVERY_S = 15.0
"""So often a long run says how far it is where nobody looks at a terminal."""


@dataclass(slots=True)
class Progress:
    """How far a run of many is: one line that changes on a terminal, a line now and then elsewhere."""

    first: int
    last: int
    broken: list[int] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)

    def line(self, played: int) -> str:
        """`so many of so many`, in how long, and which broke."""
        broke = f"broken: {', '.join(map(str, self.broken))}" if self.broken else "none broken"
        return f"{played} of {self.last - self.first + 1} played in {time.monotonic() - self.began:.0f} s, {broke}"

    def played(self, seed: int) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{self.line(seed - self.first + 1)}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.told >= _EVERY_S:
            self.told = time.monotonic()
            print(self.line(seed - self.first + 1), file=sys.stderr, flush=True)

    def broke(self, seed: int, error: Broken) -> None:
        self.broken.append(seed)
        print(f"{_cleared()}seed {seed}: {error}\n", file=sys.stderr, flush=True)


def main() -> int:
    given = _given()
    logging.basicConfig(level=logging.INFO if given.verbose else logging.CRITICAL, format="%(name)s %(message)s")
    played, once = busy_hour if given.busy else play, given.last is None
    progress = Progress(given.first, given.first if once else given.last)
    seed = given.first
    try:
        for seed in range(progress.first, progress.last + 1):
            try:
                history = played(seed)
                history.check()
            except Broken as error:
                progress.broke(seed, error)
            else:
                if once:
                    print(_told(history))
            if not once:
                progress.played(seed)
    except KeyboardInterrupt:
        print(f"{_cleared()}Interrupted in seed {seed}: {progress.line(seed - progress.first)}", file=sys.stderr)
        return _INTERRUPTED
    print(f"{_cleared()}{progress.line(progress.last - progress.first + 1)}", file=sys.stderr)
    return 1 if progress.broken else 0


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tidegate.sim.faults", description=__doc__)
    parser.add_argument("first", type=int, metavar="SEED")
    parser.add_argument("last", type=int, nargs="?", help="play all seeds up to this one")
    parser.add_argument("--busy", action="store_true", help="a busy hour of each seed, which takes ten times as long")
    parser.add_argument("--verbose", action="store_true", help="show what the operator logs")
    return parser.parse_args()


def _told(history: History) -> str:
    faults = ", ".join(f"{count} x {name}" for name, count in sorted(history.faults.items()))
    return f"seed {history.seed}: {history.commits} commits in {history.seconds:.0f} s of its own time; {faults}"


def _cleared() -> str:
    return "\r\x1b[K" if sys.stderr.isatty() else ""


if __name__ == "__main__":
    sys.exit(main())
