"""Admission webhooks: those that change a write are asked one after the other, those that judge it all at once."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.calls import Caller, HookError
from tidegate.local.admission.conditions import conditions_hold
from tidegate.local.admission.hooks import Hook, Hooks, denial, refuse_dry_run
from tidegate.local.apiserver.answers import encode
from tidegate.local.errors import ApiError, internal
from tidegate.local.patch import json_patch
from tidegate.local.store import Store

log = logging.getLogger(__name__)


class Webhooks:
    def __init__(self, store: Store) -> None:
        self._mutating = Hooks(store, "mutatingwebhookconfigurations")
        self._validating = Hooks(store, "validatingwebhookconfigurations")
        self._caller = Caller(store)

    async def mutate(self, asked: Attributes) -> None:
        if asked.obj is None:
            return
        called: list[tuple[Hook, Object]] = []
        for hook in list(self._mutating.concerned(asked)):
            if await self._change(hook, asked):
                called.append((hook, asked.obj))
        # A hook that wants to is asked once more if somebody changed the object after it.
        for hook, seen in called:
            if hook.reinvoked and seen != asked.obj:
                await self._change(hook, asked)

    async def _change(self, hook: Hook, asked: Attributes) -> bool:
        if not conditions_hold(hook, asked):
            return False
        response = await self._asked(hook, asked)
        if response is None:
            return False
        patch = response.get("patch")
        if patch:
            asked.obj = self._patched(hook, asked, response, patch)
        return True

    @staticmethod
    def _patched(hook: Hook, asked: Attributes, response: Object, patch: str) -> Object:
        if response.get("patchType") != "JSONPatch":
            raise internal(
                f'failed calling webhook "{hook.name}": unsupported patch type {response.get("patchType")!r}'
            )
        assert asked.obj is not None
        try:
            changed = json_patch(asked.obj, msgspec.json.decode(base64.b64decode(patch)))
        except (binascii.Error, msgspec.DecodeError, ApiError) as error:
            raise internal(f'failed calling webhook "{hook.name}": its patch cannot be applied: {error}') from None
        obj = asked.served.decode(encode(changed), False).obj
        asked.served.strategy.default(obj)
        return obj

    async def validate(self, asked: Attributes) -> None:
        concerned = [hook for hook in self._validating.concerned(asked) if conditions_hold(hook, asked)]
        if concerned:
            answers = await asyncio.gather(*[self._asked(hook, asked) for hook in concerned], return_exceptions=True)
            for answer in answers:
                if isinstance(answer, BaseException):
                    raise answer

    async def _asked(self, hook: Hook, asked: Attributes) -> Object | None:
        """The answer of a hook that allows the write; None if it cannot be had and need not be."""
        refuse_dry_run(hook, asked)
        try:
            response = await self._caller.ask(hook, asked)
        except HookError as error:
            if hook.fails:
                raise internal(f'failed calling webhook "{hook.name}": {error}') from None
            log.warning("webhook %s is passed over: %s", hook.name, error)
            return None
        asked.warnings += response.get("warnings") or []
        if not response.get("allowed"):
            raise denial(hook, asked, response.get("status"))
        return response

    async def close(self) -> None:
        await self._caller.close()
