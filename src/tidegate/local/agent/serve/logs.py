"""Reading a container's log: from its end or from a time, following it while it grows and is rotated."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 65536
_LOOK_S = 0.1
_ROTATED_MOST = 1000


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What of a log is wanted, as Kubernetes' PodLogOptions say it."""

    follow: bool = False
    tail_lines: int | None = None
    since: str = ""
    """Lines from this time on; compared as text, in the form that the log has."""
    limit_bytes: int | None = None
    timestamps: bool = False
    stream: str = ""


def options_from(query: dict[str, str], *, now: float) -> LogOptions:
    """The options of a request. A ValueError says which one is wrong."""

    def number(name: str) -> int | None:
        if name not in query:
            return None
        if not query[name].isdigit():
            raise ValueError(f"{name}: must be a whole number, not {query[name]!r}")
        return int(query[name])

    def truth(name: str) -> bool:
        return query.get(name, "").lower() in ("true", "1")

    since = _log_time(query["sinceTime"]) if query.get("sinceTime") else ""
    seconds = number("sinceSeconds")
    if seconds is not None:
        since = _stamp(now - seconds)
    return LogOptions(truth("follow"), number("tailLines"), since, number("limitBytes"), truth("timestamps"))


def _stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e9):09d}Z"


def _log_time(text: str) -> str:
    from datetime import UTC, datetime

    return _stamp(datetime.fromisoformat(text).astimezone(UTC).timestamp())


async def read(path: Path, options: LogOptions, *, alive: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Pieces of the log. While following, ends when the container has ended and all it wrote was read."""
    left = options.limit_bytes
    fresh_line = True
    async for block in _lines(path, options, alive):
        piece = bytearray()
        for line in block:
            stamped, stream, mark, text = _parts(line)
            if (options.since and stamped.decode() < options.since) or (options.stream and options.stream != stream):
                continue
            if options.timestamps and fresh_line:
                piece += stamped + b" "
            piece += text
            fresh_line = mark == b"F"
            if fresh_line:
                piece += b"\n"
        if left is not None:
            piece = piece[:left]
            left -= len(piece)
        if piece:
            yield bytes(piece)
        if left == 0:
            return
        # A pod that writes without end always has one more block, and a socket with room never makes us wait.
        await asyncio.sleep(0)


def _parts(line: bytes) -> tuple[bytes, str, bytes, bytes]:
    stamped, _, rest = line.partition(b" ")
    stream, _, rest = rest.partition(b" ")
    mark, _, text = rest.partition(b" ")
    return stamped, stream.decode(errors="replace"), mark, text


async def _lines(path: Path, options: LogOptions, alive: Callable[[], bool]) -> AsyncIterator[list[bytes]]:
    """Whole lines, in blocks: first what the rotated files hold, then the current one, then what comes."""
    files = _files(path)
    start = _tail_start(files, options.tail_lines)
    for file, offset in start:
        if file == path and options.follow:
            break
        for block in _blocks(file, offset):
            yield block
    if not options.follow:
        return
    offset = next((at for file, at in start if file == path), 0)
    async for block in _followed(path, offset, alive):
        yield block


def _files(path: Path) -> list[Path]:
    """The files of one log, oldest first."""
    rotated = []
    for number in range(1, _ROTATED_MOST):
        older = path.with_name(f"{path.name}.{number}")
        if not older.exists():
            break
        rotated.append(older)
    return [*reversed(rotated), *([path] if path.exists() else [])]


def _tail_start(files: list[Path], lines: int | None) -> list[tuple[Path, int]]:
    """Where to begin in which files so that the last `lines` lines are read; None: at the beginning of all."""
    if lines is None:
        return [(file, 0) for file in files]
    wanted = lines
    chosen: list[tuple[Path, int]] = []
    for file in reversed(files):
        offset, found = _back(file, wanted)
        chosen.insert(0, (file, offset))
        wanted -= found
        if wanted <= 0:
            break
    return chosen


def _back(file: Path, lines: int) -> tuple[int, int]:
    """The offset of the last `lines` lines of a file, and how many there are from it on."""
    found = 0
    with file.open("rb") as handle:
        at = handle.seek(0, os.SEEK_END)
        if lines <= 0:
            return at, 0
        while at > 0:
            size = min(_BLOCK, at)
            at -= size
            handle.seek(at)
            block = handle.read(size)
            position = len(block)
            while (position := block.rfind(b"\n", 0, position)) >= 0:
                found += 1
                if found > lines:
                    return at + position + 1, lines
    return 0, found


def _blocks(file: Path, offset: int) -> Iterator[list[bytes]]:
    rest = b""
    with file.open("rb") as handle:
        handle.seek(offset)
        while piece := handle.read(_BLOCK):
            *lines, rest = (rest + piece).split(b"\n")
            yield lines


async def _followed(path: Path, offset: int, alive: Callable[[], bool]) -> AsyncIterator[list[bytes]]:
    handle = path.open("rb")
    try:
        handle.seek(offset)
        rest = b""
        while True:
            # Asked before reading: what was written before its end is then read after its end.
            ended = not alive()
            piece = handle.read(_BLOCK)
            if piece:
                *lines, rest = (rest + piece).split(b"\n")
                yield lines
            elif _was_rotated(path, handle.fileno()):
                handle.close()
                handle = path.open("rb")
            elif ended:
                return
            else:
                await asyncio.sleep(_LOOK_S)
    finally:
        handle.close()


def _was_rotated(path: Path, fd: int) -> bool:
    try:
        return path.stat().st_ino != os.fstat(fd).st_ino
    except FileNotFoundError:
        return False
