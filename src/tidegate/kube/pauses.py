"""How rarely a process that holds many objects stops to search for cycles among them."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """Objects die by reference count here; a search for cycles at Python's usual pace would only find pauses. What is
    there by now stays and is not searched."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
