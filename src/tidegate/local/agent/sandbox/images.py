"""Images: names in a small catalogue that says how to run what they stand for on this machine.

A catalogue entry gives patterns for names, environment, and what to run by default. `roles` maps the first argument to
a command, which is how Spark's entry point works: its pods have only arguments, `driver …` or `executor …`.
"""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate.local.agent.sandbox.problems import Unrunnable

_BUILT_IN = Path(__file__).with_name("images.yaml")
_FIELDS = {"match", "env", "command", "args", "wrap", "workdir", "path", "roles", "hooks", "terms"}


@dataclass(frozen=True, slots=True)
class Image:
    """How to run one sort of image.

    `command` and `args` are defaults, as an image's entry point and command are; `wrap` is put before whatever runs.
    `hooks` replaces exec hooks by a signal: the program named as key becomes SIG… to the container's process.
    """

    name: str
    match: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    wrap: tuple[str, ...] = ()
    workdir: str = ""
    path: tuple[str, ...] = ()
    roles: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    hooks: Mapping[str, str] = field(default_factory=dict)


class Catalogue:
    """The entries of the built-in file and the user's, which come first; read again when the file changes."""

    def __init__(self, user_file: Path) -> None:
        self.user_file = user_file
        self._built_in = _entries(_read(_BUILT_IN), _BUILT_IN)
        self._user: list[Image] = []
        self._seen = 0

    def find(self, image: str) -> Image:
        """The first entry that matches, or Unrunnable with what to do."""
        self._refresh()
        names = set(_forms(image))
        for entry in (*self._user, *self._built_in):
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in entry.match for name in names):
                return entry
        known = ", ".join(f'"{entry.name}"' for entry in (*self._user, *self._built_in))
        advice = f"Add an entry that matches it to {self.user_file}, or use one of {known}."
        raise Unrunnable("ImagePullBackOff", f'Image "{image}" is not in the catalogue of this node. {advice}')

    def _refresh(self) -> None:
        try:
            changed = self.user_file.stat().st_mtime_ns
        except FileNotFoundError:
            changed = 0
        if changed != self._seen:
            self._user = _entries(_read(self.user_file), self.user_file) if changed else []
            self._seen = changed


def _read(file: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(file.read_text()) or {}
    except yaml.YAMLError as error:
        raise Unrunnable("InvalidImageCatalogue", f"{file} is not valid YAML: {error}. Correct it.") from error


def _entries(document: Any, file: Path) -> list[Image]:
    entries: list[Image] = []
    for name, given in (document.get("images") or {}).items():
        told = given or {}
        if unknown := set(told) - _FIELDS:
            advice = f"Use {', '.join(sorted(_FIELDS))}."
            raise Unrunnable("InvalidImageCatalogue", f"{file}: {name} has unknown fields {sorted(unknown)}. {advice}")
        entries.append(_entry(str(name), told))
    return entries


def _entry(name: str, told: Mapping[str, Any]) -> Image:
    terms = _terms(told.get("terms") or {})

    def texts(key: str) -> tuple[str, ...]:
        value = told.get(key) or []
        return tuple(_filled(str(each), terms) for each in ([value] if isinstance(value, str) else value))

    return Image(
        name=name,
        match=texts("match") or (name,),
        env={key: _filled(str(value), terms) for key, value in (told.get("env") or {}).items()},
        command=texts("command"),
        args=texts("args"),
        wrap=texts("wrap"),
        workdir=_filled(str(told.get("workdir") or ""), terms),
        path=texts("path"),
        roles={role: tuple(argv) for role, argv in (told.get("roles") or {}).items()},
        hooks=dict(told.get("hooks") or {}),
    )


def _terms(told: Mapping[str, str]) -> dict[str, str]:
    """Facts of this machine that entries may name as {python}, {bin}, {module:NAME} or by their own `terms`."""
    terms = {"python": sys.executable, "bin": str(Path(sys.executable).parent)}
    for key, value in told.items():
        terms[key] = _term(value)
    return terms


def _term(value: str) -> str:
    """The first alternative (`env:NAME|module:NAME|program:NAME`) that exists here, else empty."""
    for choice in value.split("|"):
        kind, _, name = choice.partition(":")
        found = ""
        if kind == "env":
            found = os.environ.get(name, "")
        elif kind == "module":
            from importlib.util import find_spec

            spec = find_spec(name)
            found = str(Path(spec.origin).parent) if spec and spec.origin else ""
        elif kind == "home":
            from shutil import which

            program = which(name)
            found = str(Path(program).resolve().parents[1]) if program else ""
        if found:
            return found
    return ""


def _filled(text: str, terms: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: terms.get(match[1], match[0]), text)


def _forms(image: str) -> list[str]:
    """The names one image goes by: as written, and without digest, tag, registry and `library/`."""
    bare = image.partition("@")[0]
    head, slash, tail = bare.rpartition("/")
    untagged = head + slash + tail.partition(":")[0]
    forms = [image, bare, untagged]
    for name in (bare, untagged):
        first, slash, rest = name.partition("/")
        if slash and ("." in first or ":" in first or first == "localhost"):
            forms += [rest, rest.removeprefix("library/")]
        forms.append(name.removeprefix("library/"))
    return forms


def argv_of(image: Image, container: Mapping[str, Any], env: Mapping[str, str]) -> list[str]:
    """What to execute: Kubernetes' rules for command and args over the image's defaults, then roles, then `wrap`."""
    command = list(container.get("command") or [])
    args = list(container.get("args") or [])
    if not command:
        command = list(image.command)
        args = args or list(image.args)
    if not command and args and args[0] in image.roles:
        mounted = {mount["mountPath"].rstrip("/") for mount in container.get("volumeMounts") or []}
        command, args = role_argv(_present(image.roles[args[0]], mounted), args[1:], env), []
    argv = [*image.wrap, *command, *args]
    if not argv:
        raise Unrunnable("CreateContainerError", "no command specified: set `command`, or `args` that the image knows")
    return argv


def _present(template: tuple[Any, ...], mounted: set[str]) -> tuple[str, ...]:
    """A role's template with its conditional parts, `{mounted: PATH, args: […]}`, put in or left out."""
    parts: list[str] = []
    for each in template:
        if not isinstance(each, Mapping):
            parts.append(str(each))
        elif each["mounted"] in mounted:
            parts += [str(part) for part in each["args"]]
    return tuple(parts)


def role_argv(template: tuple[str, ...], args: list[str], env: Mapping[str, str]) -> list[str]:
    """Fills a role's template: `$NAME` is a variable, `$NAME_*` all that begin so in numeric order, `$@` the rest."""
    argv: list[str] = []
    for part in template:
        if part == "$@":
            argv += args
        elif part.startswith("$") and part.endswith("*"):
            prefix = part[1:-1]
            named = [(key, value) for key, value in env.items() if key.startswith(prefix)]
            argv += [value for _, value in sorted(named, key=lambda each: _number(each[0], prefix))]
        else:
            argv.append(re.sub(r"\$\{?(\w+)\}?", lambda match: env.get(match[1], ""), part))
    return argv


def _number(name: str, prefix: str) -> int:
    rest = name.removeprefix(prefix)
    return int(rest) if rest.isdigit() else sys.maxsize
