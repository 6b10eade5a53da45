"""Places against the simplest thing that could be right: a sorted list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidegate.scheduler.line.places import Places

Step = tuple[str, int]
steps = st.lists(
    st.tuples(st.sampled_from(["come", "come late", "leave", "serve"]), st.integers(0, 10_000)), max_size=300
)


@given(steps)
def test_the_first_is_always_at_hand(some: list[Step]) -> None:
    """Whoever comes in whatever order, and leaves from wherever, also to come again to the same place."""
    places, expected, newest = Places(), [], 0
    for what, number in some:
        if what.startswith("come"):
            newest = newest + 1 if what == "come" else newest
            at = (newest if what == "come" else number % (newest + 1), f"w{number}")
            if at not in expected:
                expected = sorted([*expected, at])
                assert places.add(at) is (expected[0] == at)
        elif expected and what == "serve":
            expected.pop(0)
            places.remove_first()
        elif len(expected) > 1:
            places.remove(expected.pop(1 + number % (len(expected) - 1)))
        assert places.first == (expected[0] if expected else None)
    assert list(places.in_order()) == expected
