"""`tidegate demo`: the product at work, in a folder that is gone afterwards."""

from __future__ import annotations

import argparse


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.demo.command import demo

    return demo(told)
