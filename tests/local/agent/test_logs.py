"""A container's log holds exactly what was written, however it came and wherever it is read from."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.local.agent.runner import records
from tidegate.local.agent.runner.logfile import LogFile
from tidegate.local.agent.serve.logs import LogOptions, options_from, read

texts = st.lists(st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"")), max_size=40)


def written(folder: str, content: bytes, cuts: list[int], *, bytes_most: int = 10**9, files_most: int = 5) -> Path:
    path = Path(folder) / "0.log"
    log = LogFile(str(path), bytes_most=bytes_most, files_most=files_most)
    edges = sorted({0, len(content), *(cut % (len(content) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        log.take("stdout", content[start:end])
    log.finish()
    return path


def sizes(folder: Path) -> list[int]:
    return [file.stat().st_size for file in sorted(folder.iterdir())]


async def whole(path: Path, options: LogOptions) -> bytes:
    return b"".join([piece async for piece in read(path, options, alive=lambda: False)])


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(0, 2000), max_size=10), st.booleans())
async def test_what_is_read_is_what_was_written(lines: list[bytes], cuts: list[int], ends: bool) -> None:
    """In whatever pieces it came, with or without a last newline, over rotated files too."""
    content = b"\n".join(lines) + (b"\n" if ends else b"")
    with TemporaryDirectory() as folder:
        path = written(folder, content, cuts, bytes_most=200, files_most=1000)
        assert await whole(path, LogOptions()) == content
        assert await whole(path, LogOptions(follow=True)) == content


@settings(deadline=None, max_examples=60)
@given(texts, st.integers(0, 50))
async def test_the_tail_is_the_end_of_the_whole(lines: list[bytes], count: int) -> None:
    """Also where it reaches back into rotated files."""
    content = b"".join(line + b"\n" for line in lines)
    with TemporaryDirectory() as folder:
        path = written(folder, content, list(range(0, 2000, 7)), bytes_most=150, files_most=1000)
        expected = b"".join(line + b"\n" for line in (lines[-count:] if count else []))
        assert await whole(path, LogOptions(tail_lines=count)) == expected


async def test_rotation_bounds_what_is_kept(tmp_path: Path) -> None:
    """Old files go; the newest lines stay."""
    content = b"".join(b"%d\n" % n for n in range(5000))
    path = written(str(tmp_path), content, list(range(0, len(content), 100)), bytes_most=1000, files_most=3)
    kept = await whole(path, LogOptions())
    assert content.endswith(kept)
    assert sizes(tmp_path)[1:] == [size for size in sizes(tmp_path)[1:] if 0 < size < 5000]
    assert len(sizes(tmp_path)) == 3


async def test_a_line_longer_than_a_record_comes_back_whole(tmp_path: Path) -> None:
    """It is kept in parts and joined again."""
    content = b"x" * 100_000 + b"\nshort\n"
    assert await whole(written(str(tmp_path), content, [5000, 50_000]), LogOptions()) == content


def test_a_full_disk_loses_lines_and_not_the_container() -> None:
    """The runner ended with the first line that had no room, and how the container ended was never known."""
    log = LogFile("/dev/full", bytes_most=1000, files_most=1)
    log.take("stdout", b"one\ntwo")
    log.finish()


def test_how_a_container_ended_has_its_room_beforehand(tmp_path: Path) -> None:
    """With a full disk its runner could not write it down, and nobody knew."""
    path = tmp_path / "0.json"
    records.write(str(path), {"state": "starting", "container": "main"})
    records.write(str(path), {"state": "running", "container": "main", "pid": 4711})
    room = (tmp_path / "0.json.draft").stat()
    assert room.st_blocks * 512 >= 2 * path.stat().st_size
    ended = {"state": "exited", "container": "main", "pid": 4711, "code": 3}
    records.write(str(path), ended)
    assert path.stat().st_ino == room.st_ino, "written where there was room"
    assert json.loads(path.read_text()) == ended
    assert [each.name for each in tmp_path.iterdir()] == ["0.json"]


def test_options_of_a_request_are_checked() -> None:
    """A wrong one is named."""
    assert options_from({"tailLines": "3", "follow": "true"}, now=0) == LogOptions(follow=True, tail_lines=3)
    assert options_from({"sinceTime": "2026-01-01T01:00:00+01:00"}, now=0).since == "2026-01-01T00:00:00.000000000Z"
    with pytest.raises(ValueError, match="tailLines"):
        options_from({"tailLines": "x"}, now=0)


async def test_a_long_log_leaves_others_their_turn(tmp_path: Path) -> None:
    """A pod that writes faster than it is read always has more to read, and a reader that is never full never waits:
    the agent did nothing else, its node was taken for dead, and every pod on it was evicted."""
    path = written(str(tmp_path), b"y\n" * 30_000, [])
    turns = 0

    async def somebody_else() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(somebody_else())
    pieces = [piece async for piece in read(path, LogOptions(follow=True), alive=lambda: False)]
    other.cancel()
    assert turns >= len(pieces) > 10
