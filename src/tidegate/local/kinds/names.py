"""The forms a name may have: each function answers with what is wrong with a text, nothing meaning all is well.

The sentences are Kubernetes' own, since people search for them. Lengths count bytes, as Go's do.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache

Form = Callable[[str], list[str]]

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_UNDERSCORED = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_UNDERSCORED = rf"{_UNDERSCORED}(\.{_UNDERSCORED})*"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_KEY = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_KEY})?"
_C_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_PERCENT = r"[0-9]+%"
_HEADER = r"[-A-Za-z0-9]+"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

_ENDS = "and must start and end with an alphanumeric character"
_LABEL_SAYS = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}"
_SUBDOMAIN_SAYS = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS}"
)
_SUBDOMAIN_UNDERSCORED_SAYS = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', {_ENDS}"
)
_LABEL_1035_SAYS = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_WILDCARD_SAYS = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_KEY_SAYS = f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"
_VALUE_SAYS = f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"


def not_matching(says: str, pattern: str, *examples: str) -> str:
    """The sentence for a text that does not match `pattern`."""
    shown = " or ".join(f"'{example}', " for example in examples)
    return (
        f"{says} (e.g. {shown}regex used for validation is '{pattern}')"
        if shown
        else (f"{says} (regex used for validation is '{pattern}')")
    )


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _form(pattern: str, says: str, *examples: str, most: int = 0, unit: str = "characters") -> Form:
    """A form made of a pattern and, if `most` is given, a greatest length."""
    compiled = re.compile(pattern)

    def check(text: str) -> list[str]:
        wrong = []
        if most and _size(text) > most:
            wrong.append(f"must be no more than {most} {unit}")
        if not compiled.fullmatch(text):
            wrong.append(not_matching(says, pattern, *examples))
        return wrong

    return check


dns_subdomain = _form(_SUBDOMAIN, _SUBDOMAIN_SAYS, "example.com", most=253)
dns_subdomain_underscored = _form(_SUBDOMAIN_UNDERSCORED, _SUBDOMAIN_UNDERSCORED_SAYS, "example.com", most=253)
dns_1035_label = _form(_LABEL_1035, _LABEL_1035_SAYS, "my-name", "abc-123", most=63)
wildcard_subdomain = _form(_WILDCARD, _WILDCARD_SAYS, "*.example.com", most=253)
label_value = _form(_VALUE, _VALUE_SAYS, "MyValue", "my_value", "12345", most=63, unit="bytes")
c_identifier = _form(
    _C_IDENTIFIER,
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_'",
    "my_name",
    "MY_NAME",
    "MyName",
)
percent = _form(_PERCENT, "a valid percent string must be a numeric string followed by an ending '%'", "1%", "93%")
http_header = _form(_HEADER, "a valid HTTP header must consist of alphanumeric characters or '-'", "X-Header-Name")
_label = _form(_LABEL, _LABEL_SAYS, "my-name", "123-abc", most=63)
_config_key = _form(
    _CONFIG_KEY,
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "key.name",
    "KEY_NAME",
    "key-name",
    most=253,
)
_key_name = re.compile(_KEY)
_http_path = re.compile(_HTTP_PATH)
_dotted = re.compile(_SUBDOMAIN)


def dns_label(text: str) -> list[str]:
    wrong = _label(text)
    if wrong and "." in text and _dotted.fullmatch(text):
        wrong[-1] = "must not contain dots"
    return wrong


def qualified_name(text: str) -> list[str]:
    """A label key: a name, or `dns.prefix/name`."""
    return _qualified_name(text)


@lru_cache(maxsize=2048)  # The same few are asked about for every object.
def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.partition("/")
    if "/" in name:
        pattern = not_matching(_KEY_SAYS, _KEY, "MyName", "my.name", "123-abc")
        return [
            f"a valid label key {pattern} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    wrong = []
    if not slash:
        name = prefix
    elif not prefix:
        wrong.append("prefix part must be non-empty")
    else:
        wrong += [f"prefix part {message}".replace("253 characters", "253 bytes") for message in dns_subdomain(prefix)]
    if not name:
        wrong.append("name part must be non-empty")
    elif _size(name) > 63:
        wrong.append("name part must be no more than 63 bytes")
    if not _key_name.fullmatch(name):
        wrong.append(f"name part {not_matching(_KEY_SAYS, _KEY, 'MyName', 'my.name', '123-abc')}")
    return wrong


def path_segment(text: str) -> list[str]:
    """What every name must be, whatever its kind: one piece of a URL."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    return path_segment_prefix(text)


def path_segment_prefix(text: str) -> list[str]:
    return [f"may not contain '{character}'" for character in "/%" if character in text]


def env_var_name(text: str) -> list[str]:
    if not text:
        return ["environment variable name must be non-empty"]
    if all(" " <= character <= "~" and character != "=" for character in text):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def config_key(text: str) -> list[str]:
    wrong = _config_key(text)
    if text in (".", ".."):
        wrong.append(f"must not be '{text}'")
    elif text.startswith(".."):
        wrong.append("must not start with '..'")
    return wrong


def port_name(text: str) -> list[str]:
    wrong = []
    if len(text) > 15:
        wrong.append("must be no more than 15 characters")
    if not re.fullmatch(r"[-a-z0-9]+", text):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search(r"[a-z]", text):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in text:
        wrong.append("must not contain consecutive hyphens")
    if text and "-" in (text[0], text[-1]):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def ip_address(text: str) -> list[str]:
    """An address of either family, with no leading zeros and not IPv4 written as IPv6."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        octets = text.split(".")
        if len(octets) == 4 and all(octet.isdecimal() and int(octet) < 256 for octet in octets):
            return ["must not have leading 0s"]
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address.scope_id):
        if address.scope_id:
            return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
        return ["must not be an IPv4-mapped IPv6 address"]
    return []


def cidr(text: str) -> list[str]:
    """A subnet of either family: no bits beyond the prefix."""
    base, slash, length = text.partition("/")
    if not slash or not length.isdecimal() or (ip_address(base) and ip_address(base) != ["must not have leading 0s"]):
        return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]
    if ip_address(base) or (length != "0" and length.startswith("0")):
        return ["must not have leading 0s in IP or prefix length"]
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        if "host bits" in str(error):
            return ["must not have bits set beyond the prefix length"]
        return ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]
    return []


def domain_prefixed_path(text: str) -> list[tuple[str, str]]:
    """What is wrong with `domain/path`, each with the part it is wrong about."""
    host, slash, path = text.partition("/")
    if not (slash and host and path):
        return [(text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    wrong = [(host, message) for message in dns_subdomain(host)]
    if not _http_path.fullmatch(path):
        wrong.append((path, not_matching("Invalid path", _HTTP_PATH)))
    return wrong


def port_number(port: int) -> list[str]:
    return in_range(port, 1, 65535)


def in_range(value: int, least: int, most: int) -> list[str]:
    return [] if least <= value <= most else [f"must be between {least} and {most}, inclusive"]
