"""Errors as people see them."""


class CommandError(Exception):
    """What is wrong, and what to do about it: one sentence each."""


class UsageError(CommandError):
    """The same, of a command that was not written as it should be: exit status 2."""
