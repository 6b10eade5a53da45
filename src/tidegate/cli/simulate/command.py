"""Reads all files, then plays them: a file that is malformed is told of before anything runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tidegate.cli.errors import CommandError, UsageError
from tidegate.cli.simulate.documents import as_document
from tidegate.cli.simulate.live import read_live
from tidegate.cli.simulate.progress import Bar
from tidegate.cli.simulate.tables import comparison, shown
from tidegate.controller.policies import PolicyError, known_policies
from tidegate.model.resources import parse_amount
from tidegate.scheduler import Policies
from tidegate.sim.live.adopting import Live
from tidegate.sim.results.plot import Picture, svg
from tidegate.sim.scenario.playing import Result, play
from tidegate.sim.scenario.reading import read_scripts, script_of_live, script_of_trace, with_trace
from tidegate.sim.scenario.script import Script
from tidegate.sim.scenario.source import MalformedError

DONE, FAILED, MALFORMED = 0, 1, 2


def simulate(told: argparse.Namespace) -> int:
    """0: every expectation holds; 1: one does not; 2: a file is malformed, or a policy cannot be used."""
    try:
        return _simulate(told, known_policies())
    except PolicyError as error:
        raise UsageError(str(error)) from None


def _simulate(told: argparse.Namespace, policies: Policies) -> int:
    wrong = _misuse(told, policies)
    if wrong:
        raise UsageError(wrong)
    live = read_live(told) if told.from_cluster else None
    scripts = _scripts(told, live, policies)
    if scripts is None:
        return MALFORMED
    results = [_played(script, policy, told.seed, policies) for script in scripts for policy in told.policy or [None]]
    _show(results, told)
    if told.plot is not None:
        _draw(results, told)
    for failure in (failure for result in results for failure in result.failures):
        print(failure, file=sys.stderr)
    return DONE if all(result.passed for result in results) else FAILED


def _misuse(told: argparse.Namespace, policies: Policies) -> str | None:
    if told.plot is not None and told.plot.suffix.lower() not in ("", ".svg"):
        return f"--plot draws SVG, and {told.plot.name} says something else. Name a file that ends in .svg."
    if told.runs is not None and not told.from_cluster:
        return "--runs is for --from-cluster. Scenario files say themselves how long pods run."
    if told.from_cluster and told.capacity is not None:
        return "--capacity is for a --trace alone, and the cluster has its own. Leave one of them out."
    if told.from_cluster:
        return _unknown_policy(told, policies)
    if not told.files and told.trace is None:
        return "there is nothing to simulate. Name a Scenario file, a trace with --trace, or --from-cluster."
    if told.trace is not None and not told.files and told.capacity is None:
        return "--trace needs a world. Name a Scenario file, or what there is with --capacity cpu=64,memory=256Gi."
    if told.capacity is not None and (told.files or told.trace is None):
        return "--capacity is for a --trace without a Scenario file. Leave it out, or leave the file out."
    return _no_capacity(told.capacity) or _unknown_policy(told, policies)


def _no_capacity(told: str | None) -> str | None:
    for name, amount in _amounts(told or "").items():
        try:
            parse_amount(amount)
        except ValueError:
            wrong = f"{name}={amount}" if amount else name
            return f'"{wrong}" is no --capacity. Write a resource and how much there is, e.g. cpu=64,memory=256Gi.'
    return None


def _amounts(capacity: str) -> dict[str, str]:
    parts = (part.partition("=") for part in capacity.split(",") if part.strip())
    return {name.strip(): amount.strip() for name, _, amount in parts}


def _unknown_policy(told: argparse.Namespace, policies: Policies) -> str | None:
    for policy in told.policy:
        if policy not in policies:
            return f'"{policy}" is not a policy. Write one of {", ".join(policies)}.'
    return None


def _scripts(told: argparse.Namespace, live: Live | None, policies: Policies) -> list[Script] | None:
    """All scenarios, or None once everything that is wrong was told."""
    scripts: list[Script] = []
    malformed = False
    for path in told.files or [None]:
        try:
            scripts += _read(path, told, live, policies)
        except MalformedError as error:
            malformed = True
            print(error, file=sys.stderr)
    return None if malformed else scripts


def _read(path: Path | None, told: argparse.Namespace, live: Live | None, policies: Policies) -> list[Script]:
    """The scenarios of a file; without one, that of a cluster or a trace alone."""
    if path is not None:
        found = read_scripts(path, live, None if told.policy else policies)
    elif live is not None:
        found = [script_of_live(live)]
    else:
        return [script_of_trace(told.trace, _amounts(told.capacity))]
    return [with_trace(script, told.trace) for script in found] if told.trace else found


def _played(script: Script, policy: str | None, seed: int, policies: Policies) -> Result:
    with Bar(script.name, script.last_at) as bar:
        return play(script, seed=seed, policy=policy, policies=policies, progress=bar.reached)


def _show(results: list[Result], told: argparse.Namespace) -> None:
    if told.output == "table":
        print("\n\n".join(shown(result, timeline=told.timeline, namespace=told.namespace) for result in results))
        if len(told.policy) > 1:
            print("\n" + "\n".join(comparison(results)))
        failed = sum(not result.passed for result in results)
        if failed or told.files or told.trace:
            print(f"\n{len(results) - failed} passed, {failed} failed")
    elif told.output == "json":
        import json

        print(json.dumps([as_document(result, told.namespace) for result in results], indent=2))
    else:
        import yaml

        yaml.safe_dump_all(
            [as_document(result, told.namespace) for result in results], sys.stdout, sort_keys=False, allow_unicode=True
        )


def _draw(results: list[Result], told: argparse.Namespace) -> None:
    pictures = [
        Picture(
            result.script.name + (f" ({result.policy})" if result.policy else ""),
            result.history,
            sorted(result.world.queues),
        )
        for result in results
    ]
    try:
        told.plot.write_text(svg(pictures), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{told.plot} cannot be written: {error.strerror}. Name another file.") from None
