"""The few Linux calls that Python does not offer before 3.12: namespaces, mounts, and adopting orphans."""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH123
from __future__ import annotations

import ctypes
import os

NEWNS = 0x00020000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWUSER = 0x10000000
NEWPID = 0x20000000
NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_SLAVE = 1 << 19

_SET_CHILD_SUBREAPER = 36
_SIGCHLD = 17

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "cannot make a namespace")


def setns(fd: int, kind: int) -> None:
    _checked(_libc.setns(fd, kind), "cannot enter a namespace")


_CLONE_NUMBERS = {"x86_64": 56, "aarch64": 220, "riscv64": 220, "ppc64le": 120, "s390x": 120}


def fork_into(namespaces: int) -> int:
    """Like os.fork, with the child in new namespaces.

    Unsharing a PID namespace before a fork works as well, but only root could take this process back out of it.
    """
    # These keep the interpreter's own books, as os.fork does; PyDLL keeps the lock held while the world splits.
    python = ctypes.pythonapi
    call = ctypes.PyDLL(None, use_errno=True).syscall
    python.PyOS_BeforeFork()
    pid = int(call(ctypes.c_long(_CLONE_NUMBERS[os.uname().machine]), ctypes.c_long(namespaces | _SIGCHLD), 0, 0, 0, 0))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    number = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(number, f"cannot make a PID namespace: {os.strerror(number)}")
    return pid


def mount(source: str, target: str, fstype: str = "", flags: int = 0, options: str = "") -> None:
    result = _libc.mount(
        source.encode(), target.encode(), fstype.encode() or None, ctypes.c_ulong(flags), options.encode() or None
    )
    _checked(result, f"cannot mount {source} at {target}")


def become_subreaper() -> None:
    """Orphans below this process become its children instead of init's, so that none escapes."""
    _checked(_libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "cannot adopt orphans")


def start_ticks(pid: int) -> int:
    """When a process started, in clock ticks since boot: with the pid it names a process for good. 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0
