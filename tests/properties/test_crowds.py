"""The laws where nearly everybody wants more than there is."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.crowds import Crowd

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
def test_every_plan_in_a_crowd_keeps_the_laws(seed: int) -> None:
    Crowd(seed).play()
