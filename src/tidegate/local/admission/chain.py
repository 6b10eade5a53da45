"""The chain of admission: plugins that change, then plugins that judge, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tidegate.local.admission.attributes import Attributes


class Plugin(Protocol):
    """One concern of admission. Each method may raise ApiError to refuse."""

    async def mutate(self, asked: Attributes) -> None: ...

    async def validate(self, asked: Attributes) -> None: ...


class Admission:
    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.plugins = list(plugins)

    async def mutate(self, asked: Attributes) -> None:
        for plugin in self.plugins:
            await plugin.mutate(asked)

    async def validate(self, asked: Attributes) -> None:
        for plugin in self.plugins:
            await plugin.validate(asked)
