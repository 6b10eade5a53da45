"""What cannot be written for another scheduler."""

from __future__ import annotations


class DialectError(ValueError):
    """One sentence on what is wrong and, after a semicolon, what to do."""
