"""Reads all files, then plays them: a file that is malformed is told of before anything runs."""

from __future__ import annotations

import argparse
import sys

from tidegate.cli.simulate.documents import as_document
from tidegate.cli.simulate.tables import shown
from tidegate.sim.scenario.playing import Result, play
from tidegate.sim.scenario.reading import read_scripts
from tidegate.sim.scenario.script import Script
from tidegate.sim.scenario.source import MalformedError

DONE, FAILED, MALFORMED = 0, 1, 2


def simulate(told: argparse.Namespace) -> int:
    """0: every expectation holds; 1: one does not; 2: a file is malformed."""
    scripts: list[Script] = []
    malformed = False
    for path in told.files:
        try:
            scripts += read_scripts(path)
        except MalformedError as error:
            malformed = True
            print(error, file=sys.stderr)
    if malformed:
        return MALFORMED
    results = [play(script, seed=told.seed) for script in scripts]
    _show(results, told.output)
    for failure in (failure for result in results for failure in result.failures):
        print(failure, file=sys.stderr)
    return DONE if all(result.passed for result in results) else FAILED


def _show(results: list[Result], output: str) -> None:
    if output == "table":
        print("\n\n".join(shown(result) for result in results))
        failed = sum(not result.passed for result in results)
        print(f"\n{len(results) - failed} passed, {failed} failed")
    elif output == "json":
        import json

        print(json.dumps([as_document(result) for result in results], indent=2))
    else:
        import yaml

        yaml.safe_dump_all([as_document(result) for result in results], sys.stdout, sort_keys=False, allow_unicode=True)
