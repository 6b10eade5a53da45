"""Quantities, resources, durations and ratios: laws, against plain fractions."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model.strategies import FLAVORS, durations, quantities, resources, signed_resources
from tidegate.model.duration import Duration, DurationError
from tidegate.model.flavored import Flavored
from tidegate.model.quantity import NANO, Quantity, QuantityError
from tidegate.model.ratio import Ratio, RatioError
from tidegate.model.resources import NOTHING, Resources

SUFFIXES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
SUFFIXES |= {suffix: 1000 ** (power + 1) for power, suffix in enumerate("kMGTPE")}
SUFFIXES |= {f"{suffix}i": 1024 ** (power + 1) for power, suffix in enumerate("KMGTPE")}
flavored = st.dictionaries(FLAVORS, signed_resources, max_size=3).map(Flavored)


@st.composite
def quantity_texts(draw: st.DrawFn) -> tuple[str, Fraction]:
    """A quantity as people write it, and what it is worth."""
    whole, places = draw(st.integers(0, 10**6)), draw(st.text("0123456789", max_size=4))
    suffix = draw(st.sampled_from([*SUFFIXES, "e3", "E-2", "e+1"]))
    factor = SUFFIXES.get(suffix) or Fraction(10) ** int(suffix[1:])
    digits = f"{whole}.{places}" if places else str(whole)
    return digits + suffix, Fraction(digits) * factor


@given(quantities)
def test_a_quantity_survives_being_written(quantity: Quantity) -> None:
    assert Quantity.parse(str(quantity)) == quantity
    # A binary one that is no multiple of 1024 is written in full and read as a decimal one (125000, then 125k), as
    # Kubernetes does it. Nothing else is ever written otherwise, and that only once.
    again = Quantity.parse(str(quantity))
    assert str(again) == str(quantity) or str(quantity).lstrip("-").isdigit()
    assert str(Quantity.parse(str(again))) == str(again)


@given(quantity_texts())
def test_a_quantity_is_worth_what_it_says_or_a_billionth_more(written: tuple[str, Fraction]) -> None:
    text, worth = written
    most = (2**63 - 1) * NANO if text.endswith("i") else 10**60
    assert Quantity.parse(text).nano == min(-((-worth * NANO) // 1), most)


@given(quantities, quantities)
def test_sums_and_order_of_quantities_are_those_of_numbers(one: Quantity, other: Quantity) -> None:
    assert (one + other).nano == one.nano + other.nano
    assert one + other == other + one
    assert one + other - other == one
    assert [one < other, one <= other, one > other, one >= other, one == other] == [
        one.nano < other.nano,
        one.nano <= other.nano,
        one.nano > other.nano,
        one.nano >= other.nano,
        one.nano == other.nano,
    ]
    assert one != other or hash(one) == hash(other)


@pytest.mark.parametrize("text", ["", "x", "1x", "1 Gi", "Gi", ".", "1e", "--1", "1.2.3", "١"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError, match="write a number"):
        Quantity.parse(text)


def test_a_quantity_does_not_change_and_can_be_sent_away() -> None:
    quantity = Quantity.parse("1Gi")
    with pytest.raises(AttributeError):
        quantity.nano = 1
    assert str(pickle.loads(pickle.dumps(quantity))) == "1Gi"


def plain(amounts: Resources) -> dict[str, Fraction]:
    return {name: Fraction(amount, NANO) for name, amount in amounts.items()}


def value(amounts: dict[str, Fraction], name: str) -> Fraction:
    return amounts.get(name, Fraction(0))


@given(signed_resources, signed_resources, st.integers(-5, 5))
def test_resources_compute_like_fractions_by_name(one: Resources, other: Resources, times: int) -> None:
    a, b = plain(one), plain(other)
    names = {*a, *b}
    for result, expected in [
        (one + other, {name: value(a, name) + value(b, name) for name in names}),
        (one - other, {name: value(a, name) - value(b, name) for name in names}),
        (one * times, {name: value(a, name) * times for name in names}),
        (one.upper(other), {name: max(value(a, name), value(b, name)) for name in names}),
        (one.lower(other), {name: min(value(a, name), value(b, name)) for name in names}),
        (one.positive(), {name: max(value(a, name), Fraction(0)) for name in names}),
    ]:
        assert plain(result) == {name: amount for name, amount in expected.items() if amount}
    assert one.covers(other) == all(value(a, name) >= value(b, name) for name in names)
    assert (one == other) == (a == b)


@given(signed_resources, signed_resources, signed_resources)
def test_sums_of_resources_obey_the_laws_of_sums(a: Resources, b: Resources, c: Resources) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + NOTHING == a
    assert a - a == NOTHING
    assert not (a - a)
    assert hash((a + b) - b) == hash(a)
    assert a.upper(b).covers(a)
    assert a.covers(a.lower(b))
    assert not (a.covers(b) and b.covers(c)) or a.covers(c)
    assert not (a.covers(b) and b.covers(a)) or a == b


@given(signed_resources)
def test_zero_is_as_good_as_not_named(amounts: Resources) -> None:
    padded = amounts + Resources({"zero": 0})
    assert padded == amounts
    assert hash(padded) == hash(amounts)
    assert list(padded) == list(amounts)
    assert len(padded) == len(amounts)
    assert padded.of("zero") == amounts.of("zero") == 0
    assert "zero" not in padded


@given(resources)
def test_resources_survive_being_written(amounts: Resources) -> None:
    assert Resources.parse(amounts.quantities()) == amounts


@given(resources, resources, st.integers(0, 50))
def test_what_fits_n_times_does_not_fit_once_more(shape: Resources, room: Resources, most: int) -> None:
    times = shape.times_in(room, most=most)
    assert 0 <= times <= most
    assert room.covers(shape * times)
    assert times == most or not room.covers(shape * (times + 1))


def test_resources_are_written_as_kubernetes_writes_them() -> None:
    amounts = Resources.parse({"memory": "2048Mi", "cpu": "1500m", "nvidia.com/gpu": 2, "pods": "0"})
    assert amounts.quantities() == {"cpu": "1500m", "memory": "2Gi", "nvidia.com/gpu": "2"}


@given(flavored, flavored)
def test_amounts_by_flavor_compute_flavor_by_flavor(one: Flavored, other: Flavored) -> None:
    assert one + other == other + one
    assert one + other - other == one
    assert (one + other).total() == one.total() + other.total()
    assert one.covers(other) == all(one.of(name).covers(other.of(name)) for name in {*one, *other})
    assert one.positive().covers(one)
    assert hash((one + other) - other) == hash(one)


@given(durations)
def test_a_duration_survives_being_written(duration: Duration) -> None:
    assert Duration.parse(str(duration)) == duration


@pytest.mark.parametrize(
    ("text", "seconds", "shown"),
    [
        ("90s", 90, "90s"),
        ("60s", 60, "1m"),
        ("15m", 900, "15m"),
        ("2h", 7200, "2h"),
        ("1h30m", 5400, "90m"),
        ("0s", 0, "0s"),
        ("0", 0, "0s"),
        (0, 0, "0s"),
    ],
)
def test_durations_are_written_with_one_unit(text: object, seconds: int, shown: str) -> None:
    assert Duration.parse(text) == Duration(seconds)
    assert str(Duration(seconds)) == shown


@pytest.mark.parametrize("text", ["", "1", "s", "1d", "1.5h", "-1s", "1m1h", " 1s", "1s\n", "00", 90, False, None])
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(DurationError, match=r"write whole hours"):
        Duration.parse(text)


@given(st.integers(0, 10**15))
def test_a_ratio_survives_being_written(billionths: int) -> None:
    ratio = Ratio(billionths, 10**9)
    assert Ratio.parse(str(ratio)) == ratio
    assert Fraction(str(ratio)) == ratio


@pytest.mark.parametrize("text", ["", "-1", "1e3", ".5", "1.", "1/2", 0.5, True, -1])
def test_what_is_no_ratio_is_refused(text: object) -> None:
    with pytest.raises(RatioError):
        Ratio.parse(text)
