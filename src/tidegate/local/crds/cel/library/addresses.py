"""IP addresses and CIDR blocks: `ip("10.0.0.1").family() == 4`, `cidr("10.0.0.0/8").containsIP("10.1.2.3")`."""

from __future__ import annotations

import ipaddress
from typing import Any

from tidegate.local.crds.cel.library.declare import Function

Tagged = dict[str, Any]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Block = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def _read_ip(text: str) -> Address:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f'IP Address "{text}" parse error during conversion from string: unable to parse IP') from None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    if "%" in text:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    return address


def _read_cidr(text: str) -> Block:
    address, slash, _ = text.partition("/")
    try:
        if not slash:
            raise ValueError
        _read_ip(address)
        return ipaddress.ip_interface(text)
    except ValueError:
        raise ValueError(f'network address parse error during conversion from string: invalid CIDR "{text}"') from None


def _holds(reader: Any, text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True


def _ip(tagged: Tagged) -> Address:
    return ipaddress.ip_address(tagged["ip"])


def _cidr(tagged: Tagged) -> Block:
    return ipaddress.ip_interface(tagged["cidr"])


def _is_global_unicast(tagged: Tagged) -> bool:
    address = _ip(tagged)
    excluded = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not excluded and str(address) != "255.255.255.255"


def _contains_ip(block: Tagged, address: Tagged | str) -> bool:
    if isinstance(address, str) and not _holds(_read_ip, address):
        raise ValueError("no such overload")
    wanted = _read_ip(address) if isinstance(address, str) else _ip(address)
    network = _cidr(block).network
    return wanted.version == network.version and wanted in network


def _contains_cidr(block: Tagged, other: Tagged | str) -> bool:
    inner = (_read_cidr(other) if isinstance(other, str) else _cidr(other)).network
    outer = _cidr(block).network
    return inner.version == outer.version and bool(inner.subnet_of(outer))  # type: ignore[arg-type]


FUNCTIONS = [
    Function("ip(string) ip", lambda text: {"ip": str(_read_ip(text))}),
    Function("isIP(string) bool", lambda text: _holds(_read_ip, text)),
    Function("::ip.isCanonical(string) bool", lambda text: str(_read_ip(text)) == text),
    Function("ip.family() int", lambda ip: _ip(ip).version),
    Function("ip.isUnspecified() bool", lambda ip: _ip(ip).is_unspecified),
    Function("ip.isLoopback() bool", lambda ip: _ip(ip).is_loopback),
    Function("ip.isLinkLocalMulticast() bool", lambda ip: _ip(ip).is_multicast and _is_local_multicast(_ip(ip))),
    Function("ip.isLinkLocalUnicast() bool", lambda ip: _ip(ip).is_link_local),
    Function("ip.isGlobalUnicast() bool", _is_global_unicast),
    Function("cidr(string) cidr", lambda text: {"cidr": str(_read_cidr(text))}),
    Function("isCIDR(string) bool", lambda text: _holds(_read_cidr, text)),
    Function("cidr.containsIP(string) bool", _contains_ip),
    Function("cidr.containsIP(ip) bool", _contains_ip),
    Function("cidr.containsCIDR(string) bool", _contains_cidr),
    Function("cidr.containsCIDR(cidr) bool", _contains_cidr),
    Function("cidr.ip() ip", lambda cidr: {"ip": str(_cidr(cidr).ip)}),
    Function("cidr.masked() cidr", lambda cidr: {"cidr": str(_cidr(cidr).network)}),
    Function("cidr.prefixLength() int", lambda cidr: _cidr(cidr).network.prefixlen),
]


def _is_local_multicast(address: Address) -> bool:
    if address.version == 4:
        return address in ipaddress.ip_network("224.0.0.0/24")
    return address.packed[1] & 0x0F == 2
