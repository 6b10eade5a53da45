"""Errors as people see them."""


class CommandError(Exception):
    """What is wrong, and what to do about it: one sentence each."""
