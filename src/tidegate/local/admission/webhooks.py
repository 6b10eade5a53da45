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
from tidegate.local.admission.versions import converted, viewed
from tidegate.local.apiserver.answers import encode
from tidegate.local.apiserver.registry import Registry
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import ApiError, internal
from tidegate.local.patch import json_patch
from tidegate.local.store import Store

log = logging.getLogger(__name__)


class Webhooks:
    def __init__(self, store: Store, registry: Registry) -> None:
        self._mutating = Hooks(store, registry, "mutatingwebhookconfigurations")
        self._validating = Hooks(store, registry, "validatingwebhookconfigurations")
        self._caller = Caller(store)

    async def mutate(self, asked: Attributes) -> None:
        if asked.obj is None:
            return
        called: list[tuple[Hook, Served, Object]] = []
        for hook, served in list(self._mutating.concerned(asked)):
            if await self._change(hook, served, asked):
                called.append((hook, served, asked.obj))
        # A hook that wants to is asked once more if somebody changed the object after it.
        for hook, served, seen in called:
            if hook.reinvoked and seen != asked.obj:
                await self._change(hook, served, asked)

    async def _change(self, hook: Hook, served: Served, asked: Attributes) -> bool:
        view = viewed(asked, served)
        if not conditions_hold(hook, view):
            return False
        response = await self._asked(hook, view)
        if response is None:
            return False
        patch = response.get("patch")
        if patch:
            changed = self._patched(hook, view, response, patch)
            asked.obj = changed if view is asked else converted(changed, asked.served)
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
        views = [(hook, viewed(asked, served)) for hook, served in self._validating.concerned(asked)]
        concerned = [(hook, view) for hook, view in views if conditions_hold(hook, view)]
        if concerned:
            asking = [self._asked(hook, view) for hook, view in concerned]
            answers = await asyncio.gather(*asking, return_exceptions=True)
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
