"""`tidegate demo`: the product at work, in a folder that is gone afterwards.

story.py  what happens, in order        happenings.py  what became of it, in words, from what the server says
work.py   the tenants and their Jobs    picture.py     who had which part of the machine when      screen.py  showing it
"""

from __future__ import annotations

import argparse

from tidegate.cli.queued.cluster import options

_ABOUT = """\
examples:
  tidegate demo                # a picture that moves; nothing is left of it afterwards
  tidegate demo -o json        # what happened when, and the numbers, for programs

Two tenants share this machine. Ana's job is elastic: it takes the whole machine while nobody else asks. When Ben comes,
it gives way (it shrinks, nothing is evicted), and grows back when he is done. All on a Kubernetes API server and a node
of its own, in a temporary folder; about half a minute.
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _ABOUT
    options(command, asks=False)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.demo.story import demo

    return demo(told.output)
