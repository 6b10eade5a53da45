"""The same intent for Kueue, YuniKorn, Volcano, scheduler-plugins and Tidegate: labels, annotations, gangs and queues.

Pure: objects go in, new objects come out, with notes on what could not be carried over. Knows `model` and nothing else
of ours; serving a webhook or reading files is done elsewhere.
"""

from __future__ import annotations

from tidegate.dialects.dialect import Dialect
from tidegate.dialects.draft import Draft, Fate, Note
from tidegate.dialects.errors import DialectError
from tidegate.dialects.intent.config import JobConfig, QueueConfig, parse_queueconfig
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.registry import BUILTIN, GROUP, dialect_named
from tidegate.dialects.render import Rendering, render

__all__ = [
    "BUILTIN",
    "GROUP",
    "Dialect",
    "DialectError",
    "Draft",
    "Fate",
    "JobConfig",
    "Note",
    "QueueConfig",
    "Rendering",
    "Submission",
    "dialect_named",
    "parse_queueconfig",
    "render",
]
