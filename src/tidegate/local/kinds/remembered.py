"""Judgements that are remembered: replicas share one spec, and most updates leave the spec as it is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache, wraps
from typing import TypeVar

import msgspec

from tidegate.kube.wire import Object

T = TypeVar("T")

_MOST_SPECS = 256
_MOST_BYTES = 16_384
"""Of a spec that is remembered: a few giants must not fill the memory."""


def remembered(judge: Callable[..., Iterable[T]]) -> Callable[..., tuple[T, ...]]:
    """`judge(path, spec, …)`, asked once for specs that are the same text. It must depend on nothing else."""

    @lru_cache(maxsize=_MOST_SPECS)
    def judged(path: str, text: bytes, *more: Hashable) -> tuple[T, ...]:
        return tuple(judge(path, msgspec.json.decode(text), *more))

    @wraps(judge)
    def answer(path: str, spec: Object, *more: Hashable) -> tuple[T, ...]:
        text = msgspec.json.encode(spec)
        return judged(path, text, *more) if len(text) <= _MOST_BYTES else tuple(judge(path, spec, *more))

    return answer
