"""Just enough rtnetlink to give a pod an address: bridges, veth pairs, addresses and one default route.

Spoken directly, because iproute2 is not on every machine and starting it five times per pod would be slower.
"""

from __future__ import annotations

import os
import socket
import struct

_NEWLINK, _DELLINK, _NEWADDR, _DELADDR, _NEWROUTE = 16, 17, 20, 21, 24
_ACK, _CREATE, _EXCL = 0x4, 0x400, 0x200
_REQUEST = 0x1
_ERROR = 2

_IFNAME, _MASTER, _LINKINFO, _NET_NS_PID = 3, 10, 18, 19
_INFO_KIND, _INFO_DATA = 1, 2
_VETH_PEER = 1
_NESTED = 0x8000
_UP = 0x1


def _attribute(kind: int, payload: bytes) -> bytes:
    size = 4 + len(payload)
    return struct.pack("=HH", size, kind) + payload + b"\0" * (-size % 4)


def _name(name: str) -> bytes:
    return _attribute(_IFNAME, name.encode() + b"\0")


def _link(index: int = 0, flags: int = 0, change: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, change)


class Netlink:
    """A conversation with the network namespace that this process was in when the object was made."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self._socket.bind((0, 0))
        self._sequence = 0

    def close(self) -> None:
        self._socket.close()

    def _ask(self, kind: int, flags: int, body: bytes) -> None:
        self._sequence += 1
        header = struct.pack("=IHHII", 16 + len(body), kind, flags | _REQUEST | _ACK, self._sequence, 0)
        self._socket.send(header + body)
        answer = self._socket.recv(65536)
        if struct.unpack_from("=H", answer, 4)[0] == _ERROR:
            number = -struct.unpack_from("=i", answer, 16)[0]
            if number:
                raise OSError(number, os.strerror(number))

    def add_bridge(self, name: str) -> None:
        kind = _attribute(_LINKINFO | _NESTED, _attribute(_INFO_KIND, b"bridge"))
        self._ask(_NEWLINK, _CREATE | _EXCL, _link(0, _UP, _UP) + _name(name) + kind)

    def add_veth(self, name: str, *, bridge: int, peer: str, peer_pid: int) -> None:
        """A pair: `name` here, as a port of the bridge, and `peer` in the network namespace of `peer_pid`."""
        other = _link() + _name(peer) + _attribute(_NET_NS_PID, struct.pack("=I", peer_pid))
        data = _attribute(_INFO_DATA | _NESTED, _attribute(_VETH_PEER | _NESTED, other))
        kind = _attribute(_LINKINFO | _NESTED, _attribute(_INFO_KIND, b"veth") + data)
        master = _attribute(_MASTER, struct.pack("=I", bridge))
        self._ask(_NEWLINK, _CREATE | _EXCL, _link(0, _UP, _UP) + _name(name) + master + kind)

    def delete(self, name: str) -> None:
        self._ask(_DELLINK, 0, _link() + _name(name))

    def raise_link(self, index: int) -> None:
        self._ask(_NEWLINK, 0, _link(index, _UP, _UP))

    def add_address(self, index: int, address: str, prefix: int) -> None:
        packed = socket.inet_aton(address)
        body = struct.pack("=BBBBi", socket.AF_INET, prefix, 0, 0, index)
        self._ask(_NEWADDR, _CREATE | _EXCL, body + _attribute(2, packed) + _attribute(1, packed))

    def delete_address(self, index: int, address: str, prefix: int) -> None:
        body = struct.pack("=BBBBi", socket.AF_INET, prefix, 0, 0, index)
        self._ask(_DELADDR, 0, body + _attribute(2, socket.inet_aton(address)))

    def add_default_route(self, gateway: str) -> None:
        main_table, static, universe, unicast = 254, 4, 0, 1
        body = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, main_table, static, universe, unicast, 0)
        self._ask(_NEWROUTE, _CREATE, body + _attribute(5, socket.inet_aton(gateway)))
