"""By when a request is to be answered: `timeout` in its query, in Go's notation, as `kubectl --request-timeout` says.

What is not stored by then never is. A leader counts on that: what it wrote in its last moment does not come after the
next one has read everything.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from typing import Any

from tidegate.kube.wire import Request, Response
from tidegate.local.errors import ApiError, bad_request

MOST_S = 60.0
"""Longer than this no server lets anything take, whatever is asked for."""
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def asked_s(request: Request) -> float | None:
    """So long it may take; None where it does not say. A timeout of nothing says nothing."""
    text = request.query.get("timeout", "")
    if not text:
        return None
    seconds = duration_s(text)
    if seconds is None:
        raise bad_request(f'invalid timeout specified in the request URL - time: invalid duration "{text}"')
    return seconds if 0 < seconds < MOST_S else None


def duration_s(text: str) -> float | None:
    """Seconds in Go's notation ("1m30s", "250ms"); None where it is none."""
    sign, digits = (-1 if text.startswith("-") else 1), text[1:] if text.startswith(("+", "-")) else text
    if digits == "0":
        return 0.0
    parts = _PART.findall(digits)
    if not parts or "".join(amount + unit for amount, unit in parts) != digits:
        return None
    return sign * sum(float(amount) * _UNITS[unit] for amount, unit in parts)


async def in_time(answering: Coroutine[Any, Any, Response], within_s: float | None) -> Response:
    """The answer, if it comes so soon."""
    if within_s is None:
        return await answering
    limit = asyncio.timeout(within_s)
    try:
        async with limit:
            return await answering
    except TimeoutError:
        if not limit.expired():
            raise
        said = "Timeout: request did not complete within requested timeout - context deadline exceeded"
        raise ApiError(504, "Timeout", said, {}) from None
