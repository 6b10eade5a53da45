"""What is typed: words that are not known are answered with near ones, values that cannot be with what to write."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

USAGE = 2
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line and where to look in another; keeps the lines of examples as they are."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"formatter_class": argparse.RawDescriptionHelpFormatter} | options)

    def error(self, message: str) -> NoReturn:
        print(f"tidegate: {message.removeprefix('argument ')}", file=sys.stderr)
        print(f"Try `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(USAGE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """What is too much is told by the command it was given to, not by all of them."""
        told, extra = super().parse_known_args(args, namespace)
        if extra:
            self.error(self._unknown(extra[0]))
        return told, extra

    def _unknown(self, word: str) -> str:
        from tidegate.cli.near import did_you_mean

        if not word.startswith("-"):
            return f'"{word}" is a word too many.'
        long = [name for name in self._option_string_actions if name.startswith("--")]
        near = did_you_mean(word.partition("=")[0], long, most=1)
        return f"there is no option {word} here. {near if near.startswith('Did') else ''}".rstrip()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        *others, last = map(str, action.choices)
        known = f"{', '.join(others)} or {last}" if others else last
        raise argparse.ArgumentError(action, f'"{value}" is not known. Write {known}.')


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number within bounds."""
    bounds = f"of {least} or more" if most is None else f"from {least} to {most}"

    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f'"{text}" is no number. Write a whole one {bounds}.') from None
        if found < least or (most is not None and found > most):
            raise argparse.ArgumentTypeError(f"{found} cannot be. Write a whole number {bounds}.")
        return found

    return number


def label(what: str) -> Callable[[str], str]:
    """A name as Kubernetes takes it for namespaces and the like."""

    def name(text: str) -> str:
        if not _LABEL.fullmatch(text):
            said = "Use up to 63 lower-case letters, digits and dashes; dashes neither first nor last."
            raise argparse.ArgumentTypeError(f'"{text}" cannot be the name of a {what}. {said}')
        return text

    return name


def amounts(option: str, given: Iterable[str]) -> dict[str, str]:
    """`cpu=8`, several times, each resource once; UsageError where it cannot be."""
    from tidegate.cli.errors import UsageError
    from tidegate.model.quantity import Quantity

    found: dict[str, str] = {}
    for text in given:
        name, _, amount = text.partition("=")
        if not (name and amount):
            raise UsageError(f'{option}: "{text}" is no amount. Write a resource and how much, e.g. {option} cpu=8.')
        if name in found:
            raise UsageError(f"{option}: {name} is given twice. Give it once.")
        try:
            enough = Quantity.parse(amount) >= Quantity(0)
        except ValueError as error:
            raise UsageError(f"{option}: {name}: {error}.") from None
        if not enough:
            raise UsageError(f"{option}: {amount} {name} is less than nothing. Write 0 or more.")
        found[name] = amount
    return found
