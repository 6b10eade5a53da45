"""`python -m tidegate.sim.faults SEED` replays one history; `FIRST LAST` plays many, and says which broke."""

from __future__ import annotations

import argparse
import logging
import sys
import time

from tidegate.sim.faults.playing import Broken, play


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tidegate.sim.faults", description=__doc__)
    parser.add_argument("first", type=int, metavar="SEED")
    parser.add_argument("last", type=int, nargs="?", help="play all seeds up to this one")
    parser.add_argument("--verbose", action="store_true", help="show what the operator logs")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO if given.verbose else logging.CRITICAL, format="%(name)s %(message)s")
    broken = 0
    began = time.monotonic()
    for seed in range(given.first, (given.first if given.last is None else given.last) + 1):
        try:
            history = play(seed)
            history.check()
        except Broken as error:
            broken += 1
            print(f"seed {seed}: {error}\n", file=sys.stderr)
            continue
        if given.last is None:
            faults = ", ".join(f"{count} x {name}" for name, count in sorted(history.faults.items()))
            print(f"seed {seed}: {history.commits} commits in {history.seconds:.0f} s of its own time; {faults}")
    print(f"{broken} broken, {time.monotonic() - began:.1f} s", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
