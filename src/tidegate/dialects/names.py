"""Names and values as Kubernetes and the schedulers accept them; what does not fit is refused, never cut off."""

from __future__ import annotations

import hashlib
import re

from tidegate.dialects.errors import DialectError

LONGEST_LABEL = 63
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_UNFIT = re.compile(r"[^-a-z0-9]")
_QUEUE_LEVEL = re.compile(r"[A-Za-z0-9_-]+")


def label_value(text: str, what: str) -> str:
    """The text, if a label may have it as its value."""
    if len(text) > LONGEST_LABEL:
        raise DialectError(
            f'{what} "{text}" has {len(text)} characters and is written as a label; '
            f"shorten it to at most {LONGEST_LABEL}"
        )
    if not _LABEL.fullmatch(text):
        how = "use letters, digits, dashes, underscores and dots, with a letter or digit at each end"
        raise DialectError(f'{what} "{text}" cannot be the value of a label; {how}')
    return text


def dns_name(text: str, what: str, longest: int = 253) -> str:
    """The text, if an object may be called so."""
    if not text or len(text) > longest or not _SUBDOMAIN.fullmatch(text):
        how = f"use at most {longest} lower-case letters, digits, dashes and dots"
        raise DialectError(f'{what} "{text}" cannot be the name of an object; {how}')
    return text


def queue_level(text: str, what: str) -> str:
    """One level of a YuniKorn queue path. Levels are parted by dots, so a dot within one is spelled out, as YuniKorn
    itself does."""
    level = text.replace(".", "_dot_")
    if len(level) > LONGEST_LABEL:
        raise DialectError(f'{what} "{text}" has {len(level)} characters; shorten it to at most {LONGEST_LABEL}')
    if not _QUEUE_LEVEL.fullmatch(level):
        raise DialectError(f'{what} "{text}" cannot be a queue; use letters, digits, dashes and underscores')
    return level


def plain(text: str) -> str:
    """The text in small letters, digits and dashes."""
    return _UNFIT.sub("-", text.lower())


def fit(text: str) -> str:
    """The text as a part of a pod's name; one that had to be changed has a digest, so that different ones stay so."""
    changed = plain(text)
    if changed == text:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{changed[: LONGEST_LABEL - 9].rstrip('-')}-{digest}"


def shortened(text: str, longest: int = LONGEST_LABEL) -> str:
    """The text, or its beginning with a digest of the whole, so that different long texts stay different."""
    if len(text) <= longest:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: longest - 9].rstrip('-._')}-{digest}"
