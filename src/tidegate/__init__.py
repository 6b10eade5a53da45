"""Tidegate: queues, fair shares and elastic capacity for batch work that grows and shrinks while it runs."""

from importlib.metadata import version

__version__ = version("tidegate")
