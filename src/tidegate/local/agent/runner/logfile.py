"""A container's log: CRI lines (`time stream F|P text`), rotated by size so that it never fills the disk."""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH105, PTH108, PTH110
from __future__ import annotations

import os
import time

_LINE_MOST = 16384


class LogFile:
    """Takes what a container writes, in whatever pieces it comes, and appends whole lines."""

    def __init__(self, path: str, *, bytes_most: int, files_most: int) -> None:
        self._path = path
        self._bytes_most = bytes_most
        self._files_most = files_most
        self._rest: dict[str, bytes] = {}
        self._open()

    def _open(self) -> None:
        self._fd = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._fd).st_size

    def take(self, stream: str, piece: bytes) -> None:
        """Appends the whole lines of `piece`; the rest waits for its end, unless it is longer than a line may be."""
        lines = (self._rest.pop(stream, b"") + piece).split(b"\n")
        rest = lines.pop()
        mark = _mark(stream)
        written = [part for line in lines for part in _parts(mark, line)]
        while len(rest) > _LINE_MOST:
            written.append(mark + b" P " + rest[:_LINE_MOST] + b"\n")
            rest = rest[_LINE_MOST:]
        if rest:
            self._rest[stream] = rest
        self._append(written)

    def finish(self) -> None:
        """Writes unfinished lines, and closes."""
        for stream, rest in self._rest.items():
            self._append([_mark(stream) + b" P " + rest + b"\n"])
        self._rest = {}
        os.close(self._fd)

    def _append(self, lines: list[bytes]) -> None:
        if not lines:
            return
        if self._size >= self._bytes_most:
            self._rotate()
        try:
            self._size += os.write(self._fd, b"".join(lines))
        except OSError:
            return  # The disk is full. What was said is lost; who said it goes on.

    def _rotate(self) -> None:
        os.close(self._fd)
        for number in range(self._files_most - 1, 0, -1):
            older = self._path if number == 1 else f"{self._path}.{number - 1}"
            if os.path.exists(older):
                os.replace(older, f"{self._path}.{number}")
        if self._files_most <= 1:
            os.unlink(self._path)
        self._open()


def _mark(stream: str) -> bytes:
    now = time.time_ns()
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 1_000_000_000))
    return f"{seconds}.{now % 1_000_000_000:09d}Z {stream}".encode()


def _parts(mark: bytes, line: bytes) -> list[bytes]:
    if len(line) <= _LINE_MOST:
        return [mark + b" F " + line + b"\n"]
    pieces = [line[at : at + _LINE_MOST] for at in range(0, len(line), _LINE_MOST)]
    return [mark + b" P " + piece + b"\n" for piece in pieces[:-1]] + [mark + b" F " + pieces[-1] + b"\n"]
