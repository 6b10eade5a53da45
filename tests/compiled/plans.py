"""Plays crowds and prints every Plan, each on a line of its own: python -m tests.compiled.plans FIRST LAST"""

from __future__ import annotations

import sys

from msgspec.structs import replace

import tidegate.scheduler.planner
from tests.properties.crowds import Crowd
from tidegate.scheduler import Plan, Snapshot, plan


def is_compiled() -> bool:
    return not str(tidegate.scheduler.planner.__file__).endswith(".py")


def main() -> None:
    print("compiled" if is_compiled() else "as it is written")
    for seed in range(*map(int, sys.argv[1:])):
        print("seed", seed)
        crowd = Crowd(seed)
        crowd.world.planned_by(told)
        crowd.play()


def told(snapshot: Snapshot, now: int, *, reasons: bool) -> Plan:
    """Everybody's reasons, whether they were asked for or not."""
    made = plan(snapshot, now)
    print(made)
    return made if reasons else replace(made, waiting=(), says_why=False)


if __name__ == "__main__":
    main()
