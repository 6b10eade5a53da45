"""The forms of names: what they let through, and the sentences people search for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.kinds import names

TEXTS = st.text(alphabet="abzAZ09-._/ %:é", max_size=70)


@given(TEXTS)
def test_a_label_is_a_subdomain_without_dots(text: str) -> None:
    """Whatever names a namespace could name a pod; the converse needs that there be no dots."""
    if not names.dns_label(text):
        assert not names.dns_subdomain(text)
    if not names.dns_subdomain(text) and "." not in text and len(text) <= 63:
        assert not names.dns_label(text)


@given(TEXTS)
def test_every_label_value_that_is_not_empty_is_a_key(text: str) -> None:
    """Values and unprefixed keys share their alphabet."""
    if text and not names.label_value(text):
        assert not names.qualified_name(text)


@given(TEXTS)
def test_subdomains_are_path_segments(text: str) -> None:
    """A name that a kind accepts can always stand in a URL."""
    if not names.dns_subdomain(text):
        assert not names.path_segment(text)


_LABEL_SENTENCE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_SENTENCE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@pytest.mark.parametrize(
    ("form", "text", "messages"),
    [
        (names.dns_label, "Bad", [_LABEL_SENTENCE]),
        (names.dns_label, "a.b", ["must not contain dots"]),
        (names.dns_label, "x" * 64, ["must be no more than 63 characters"]),
        (names.dns_subdomain, "a_b", [_SUBDOMAIN_SENTENCE]),
        (names.label_value, "x" * 64, ["must be no more than 63 bytes"]),
        (names.qualified_name, "/a", ["prefix part must be non-empty"]),
        (names.path_segment, "..", ["may not be '..'"]),
        (names.path_segment, "a/b%c", ["may not contain '/'", "may not contain '%'"]),
        (names.port_name, "8080", ["must contain at least one letter (a-z)"]),
        (names.port_name, "a--b", ["must not contain consecutive hyphens"]),
        (names.config_key, "..", ["must not be '..'"]),
        (names.config_key, "..a", ["must not start with '..'"]),
        (names.env_var_name, "A B!", []),
        (names.ip_address, "10.0.0.01", ["must not have leading 0s"]),
        (names.ip_address, "::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        (names.cidr, "10.0.0.1/8", ["must not have bits set beyond the prefix length"]),
        (names.cidr, "10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]),
    ],
)
def test_messages_are_kubernetes_own(form: names.Form, text: str, messages: list[str]) -> None:
    """Clients and people match on these sentences, blanks and all."""
    assert form(text) == messages


def test_a_name_with_a_line_end_is_refused() -> None:
    """A pattern's end is the end of the text, not of a line."""
    assert names.dns_label("a\n")
    assert names.label_value("a\n")
