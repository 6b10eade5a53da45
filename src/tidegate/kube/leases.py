"""Leader election: of all who want to, one leads, as long as it renews a Lease.

Clocks of different machines are never compared. A candidate takes the lease over when *it* has seen no change of it for
as long as the holder said it would be good, by its own monotonic clock; times in the object are for people. A leader
that could not renew in time, counted from when its last successful renewal was *sent*, stops before anybody else can
have begun, provided `renew_within_s` is shorter than `duration_s`.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.resources import LEASES
from tidegate.kube.wire import Object

_log = logging.getLogger(__name__)

_RELEASE_S = 5.0
_TURNS = 20
"""Of the loop, at most, until what the socket has is read."""


class LeadershipLost(Exception):  # noqa: N818 — it is what happened, not what somebody did wrong
    """The lease could not be renewed in time; what was led has been stopped."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a lease is good, how soon a leader gives up on renewing it, and how often everybody tries."""

    duration_s: int = 15
    renew_within_s: float = 10.0
    retry_s: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.retry_s < self.renew_within_s < self.duration_s:
            raise ValueError("A lease needs retry_s < renew_within_s < duration_s. Choose them in that order.")

    @property
    def answer_within_s(self) -> float:
        """How long a server may take for what a leader writes: what is sent in the last moment of a lease has taken
        effect, or never does, before another leads. A part is left for the way to the server."""
        return 0.8 * (self.duration_s - self.renew_within_s)


class LeaderElection:
    """One candidate for one lease."""

    def __init__(
        self,
        client: Client,
        name: str,
        namespace: str,
        identity: str,
        *,
        terms: Terms | None = None,
        clock: Callable[[], float] = time.monotonic,
        uniform: Callable[[], float] = random.random,
    ) -> None:
        """`identity` must differ between candidates; a host's name and a random part are good."""
        self._client = client
        self._name = name
        self._namespace = namespace
        self._identity = identity
        self._terms = terms or Terms()
        self._clock = clock
        self._uniform = uniform
        self._lease: Object | None = None
        self._seen_at = 0.0
        self._good_until = 0.0
        self._unsure_until = 0.0
        self._succeeds = False
        """Whether it took the lease of somebody who did not give it back."""

    @property
    def terms(self) -> Terms:
        return self._terms

    @property
    def is_leader(self) -> bool:
        return self._holder() == self._identity and self._clock() < self._good_until

    @property
    def leader(self) -> str:
        """Who leads, as far as we have seen; "" if nobody."""
        return self._holder()

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Waits for its turn, then leads until `lead` returns. LeadershipLost when the lease was lost: `lead` is
        cancelled first. However it ends, a lease still held is released, after `lead` has come to its end."""
        try:
            await self._acquire()
            await self._lead(lead)
        finally:
            await self._release()

    async def _lead(self, lead: Callable[[], Awaitable[None]]) -> None:
        leading = asyncio.ensure_future(self._begin(lead))
        renewing = asyncio.ensure_future(self._renew())
        try:
            await asyncio.wait((leading, renewing), return_when=asyncio.FIRST_COMPLETED)
            ended = leading.done()
        finally:
            leading.cancel()
            renewing.cancel()
            await asyncio.gather(leading, renewing, return_exceptions=True)
        if ended:
            return leading.result()
        raise LeadershipLost(f"{self._identity} lost the lease {self._namespace}/{self._name}.")

    async def _begin(self, lead: Callable[[], Awaitable[None]]) -> None:
        """A server counts the time that a write may take from when it has read it, and a busy one reads late what was
        sent in time. So much is left for that before anything is looked at."""
        if self._succeeds:
            await asyncio.sleep(self._terms.answer_within_s)
        await lead()

    async def _acquire(self) -> None:
        held = await self._try(self._terms.renew_within_s)
        while not held:
            # Spread out, or all candidates would meet again and again.
            await asyncio.sleep(self._terms.retry_s * (1 + 0.2 * self._uniform()))
            held = await self._try(self._terms.renew_within_s)
        _log.info("%s leads by the lease %s/%s.", self._identity, self._namespace, self._name)

    async def _renew(self) -> None:
        """Renews as long as that works; returns once it has not for too long, or somebody else has the lease."""
        while (left_s := self._good_until - self._clock()) > 0:
            await asyncio.sleep(min(self._terms.retry_s, left_s))
            await self._try(self._good_until - self._clock())
            if self._holder() != self._identity:
                return

    async def _try(self, within_s: float) -> bool:
        """One attempt to take or renew the lease; never raises."""
        sent_at = self._clock()
        try:
            held = await self._take_within(within_s)
        except StatusError as refused:
            # 409: somebody was faster, or wrote between our read and our write. The next attempt reads again.
            _log.debug("The lease %s was not taken: %s", self._name, refused.message)
            held = False
        except OSError as broken:
            _log.info("The lease %s could not be reached (%s).", self._name, str(broken) or type(broken).__name__)
            held = False
        if held:
            self._good_until = sent_at + self._terms.renew_within_s
        return held

    async def _take_within(self, within_s: float) -> bool:
        """An answer that is there counts: whoever leads may be too busy to have read it when the time is up. It stops
        well before anybody else begins."""
        terms, taking = self._terms, asyncio.ensure_future(self._take())
        until = self._clock() + within_s + (terms.duration_s - terms.renew_within_s) / 4
        try:
            await asyncio.wait((taking,), timeout=max(within_s, 0.001))
            for _ in range(_TURNS):
                if taking.done():
                    return await taking
                if self._clock() > until:
                    break
                await asyncio.sleep(0)
            raise TimeoutError
        finally:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)

    async def _take(self) -> bool:
        if self._lease is not None and self.is_leader:
            try:
                return await self._write(self._lease)
            except StatusError as refused:
                if refused.code not in (404, 409):
                    raise
        try:
            self._observe(await self._client.get(LEASES, self._name, self._namespace))
        except StatusError as refused:
            if refused.code != 404:
                raise
            meta = {"name": self._name, "namespace": self._namespace}
            self._observe(await self._client.create(LEASES, {"metadata": meta, "spec": self._spec(None)}))
            return True
        if not self._may_take():
            return False
        assert self._lease is not None
        self._succeeds = self._succeeds or bool(self._holder())
        return await self._write(self._lease)

    async def _write(self, known: Object) -> bool:
        """Whoever leads does so by the version it wrote last, without reading first: who is slow is asked once."""
        taken = {**known, "spec": {**known["spec"], **self._spec(known["spec"])}}
        self._observe(await self._client.update(LEASES, taken))
        return True

    def _observe(self, lease: Object) -> None:
        lease["spec"] = lease.get("spec") or {}
        if self._lease is None or self._lease["spec"] != lease["spec"]:
            self._seen_at = self._clock()
        self._lease = lease

    def _may_take(self) -> bool:
        # One that lost it waits like everybody: what it sent as a leader may still be on its way.
        mine = self._holder() == self._identity and self._good_until > 0
        if mine or not self._holder() or self._lease is None:
            return True
        good_s = self._lease["spec"].get("leaseDurationSeconds") or self._terms.duration_s
        return self._clock() >= self._seen_at + good_s

    def _holder(self) -> str:
        return (self._lease or {}).get("spec", {}).get("holderIdentity") or ""

    def _spec(self, before: dict[str, Any] | None) -> dict[str, Any]:
        now = _micro_time()
        spec: dict[str, Any] = {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": self._terms.duration_s,
            "renewTime": now,
        }
        if before is None or before.get("holderIdentity") != self._identity:
            transitions = 0 if before is None else (before.get("leaseTransitions") or 0) + 1
            spec |= {"acquireTime": now, "leaseTransitions": transitions}
        return spec

    def cut_off(self) -> None:
        """What was sent had no answer: it may take effect until its time is up, and the lease is kept until then."""
        self._unsure_until = self._clock() + self._terms.answer_within_s

    async def _release(self) -> None:
        """Gives the lease back, so that the next leader need not wait for it to run out; if that fails, it must."""
        if self.is_leader and self._clock() < self._unsure_until:
            await asyncio.sleep(self._unsure_until - self._clock())
        if self._lease is None or not self.is_leader:
            return
        try:
            async with asyncio.timeout(_RELEASE_S):
                await self._give_back()
        except (StatusError, OSError) as failed:
            _log.info("The lease %s could not be released: %s", self._name, failed)
        self._good_until = 0.0

    async def _give_back(self) -> None:
        """By the version we wrote last, so that nobody else's is released. A renewal that was cut off may have been the
        last: then the lease is read again, and given back if it is still ours."""
        assert self._lease is not None
        gone = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _micro_time()}
        try:
            self._lease = await self._client.update(LEASES, {**self._lease, "spec": {**self._lease["spec"], **gone}})
        except StatusError as refused:
            if refused.code != 409:
                raise
            self._observe(await self._client.get(LEASES, self._name, self._namespace))
            if self._holder() == self._identity:
                newest = {**self._lease, "spec": {**self._lease["spec"], **gone}}
                self._lease = await self._client.update(LEASES, newest)


def _micro_time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
