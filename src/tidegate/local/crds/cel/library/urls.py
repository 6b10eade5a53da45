"""URLs and named formats: `url("https://a:80/b?c=d").getPort()`, `format.dns1123Label().validate(self.name)`."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from tidegate.local.crds.cel.library.declare import Function
from tidegate.local.crds.values import formats
from tidegate.local.kinds import names

Tagged = dict[str, Any]


def _parsed(text: str) -> Tagged:
    if not formats.is_uri(text):
        raise ValueError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    return {"url": text}


def _host(url: Tagged) -> str:
    return urlsplit(url["url"]).netloc.rpartition("@")[2]


def _hostname(url: Tagged) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _port(url: Tagged) -> str:
    port = urlsplit(url["url"]).port
    return "" if port is None else str(port)


_UNSAID = {
    "uri": "is no URI", "uuid": "does not match the UUID format", "byte": "invalid base64",
    "date": "invalid date", "datetime": "invalid datetime",
}  # fmt: skip


def _by_predicate(form: str) -> Any:
    return lambda text: [] if formats.FORMATS[form](text) else [_UNSAID[form]]


def _prefix(form: names.Form) -> names.Form:
    return lambda text: form(text[:-1] + "a" if len(text) > 1 and text.endswith("-") else text)


FORMATS: dict[str, names.Form] = {
    "dns1123Label": names.dns_label, "dns1123Subdomain": names.dns_subdomain, "dns1035Label": names.dns_1035_label,
    "dns1123LabelPrefix": _prefix(names.dns_label), "dns1123SubdomainPrefix": _prefix(names.dns_subdomain),
    "dns1035LabelPrefix": _prefix(names.dns_1035_label), "qualifiedName": names.qualified_name,
    "labelValue": names.label_value,
} | {form: _by_predicate(form) for form in _UNSAID}  # fmt: skip


def _named(name: str) -> Any:
    return lambda: {"format": name}


FUNCTIONS = [
    Function("url(string) url", _parsed),
    Function("isURL(string) bool", formats.is_uri),
    Function("url.getScheme() string", lambda url: urlsplit(url["url"]).scheme),
    Function("url.getHost() string", _host),
    Function("url.getHostname() string", _hostname),
    Function("url.getPort() string", _port),
    Function("url.getEscapedPath() string", lambda url: urlsplit(url["url"]).path),
    Function("url.getQuery() map(list(string))", lambda url: parse_qs(urlsplit(url["url"]).query, True)),
    Function("format.validate(string) any", lambda form, text: FORMATS[form["format"]](text)),
    *(Function(f"::format.{name}() format", _named(name)) for name in FORMATS),
]
