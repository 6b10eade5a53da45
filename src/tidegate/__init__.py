"""Tidegate: queues, fair shares and elastic capacity for batch work that grows and shrinks while it runs."""

__version__ = "0.1.0"
