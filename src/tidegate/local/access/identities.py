"""The certificates of one machine: who the API server, its client side and the agent are to each other.

They are made by a child process when there are none yet: the library that makes them would otherwise stay in the
server's memory for good, as a fifth of it, for something done once a year.
"""

from __future__ import annotations

import os
from pathlib import Path

from tidegate.local.access.certificates import Authority
from tidegate.local.access.users import MASTERS

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
SERVICE_HOSTS = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
SERVICE_ADDRESS = "10.96.0.1"


class Identities:
    """Files in the `pki` folder of the data folder; each is there once this has been made."""

    def __init__(self, folder: Path, hosts: tuple[str, ...]) -> None:
        self.authority = Authority(folder)
        names = tuple(dict.fromkeys([*LOOPBACK_HOSTS, *SERVICE_HOSTS, SERVICE_ADDRESS, *hosts]))
        self.server = self.authority.issue("apiserver", "kube-apiserver", hosts=names)
        masters = (MASTERS,)
        self.client = self.authority.issue("apiserver-client", "kube-apiserver-client", organisations=masters)
        nodes = ("system:nodes",)
        self.agent = self.authority.issue("agent", "system:node:local", organisations=nodes, hosts=LOOPBACK_HOSTS)


def make_apart(folder: Path, hosts: tuple[str, ...]) -> int:
    """Starts making them in a child process; its id, for `made`. To be called before there are threads."""
    child = os.fork()
    if child:
        return child
    try:
        Identities(folder, hosts)
    except OSError:
        os._exit(1)  # The parent will try itself, and say what is wrong.
    finally:
        os._exit(0)


def made(child: int) -> None:
    os.waitpid(child, 0)
