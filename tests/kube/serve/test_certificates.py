"""Certificates replace each other without a gap, whenever somebody looks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.kube.serve.certificates import Certificates, Pair, Terms, look_again_s, made, renewed

START = datetime(2030, 1, 1, tzinfo=UTC)
HOST = "tidegate.tidegate-system.svc"
TERMS = Terms()


def is_trusted(pair: Pair, authorities: bytes, now: datetime) -> bool:
    """As a client would judge that trusts these authorities."""
    store = Store(x509.load_pem_x509_certificates(authorities))
    verifier = PolicyBuilder().store(store).time(now).build_server_verifier(x509.DNSName(HOST))
    try:
        verifier.verify(x509.load_pem_x509_certificate(pair.certificate), [])
    except x509.verification.VerificationError:
        return False
    return True


@settings(max_examples=30)
@given(st.lists(st.integers(1, 28 * 24), min_size=1, max_size=40))
def test_whoever_still_trusts_what_was_trusted_before_trusts_what_is_served_now(hours: list[int]) -> None:
    """The server may know an older configuration, and a replica serve an older certificate, by one look each."""
    now, kept = START, made([HOST], START, TERMS)
    for step in hours:
        before, now = kept, now + timedelta(hours=step)
        kept = renewed(before, [HOST], now, TERMS)
        assert is_trusted(kept.current, before.trusted, now)
        assert is_trusted(before.current, kept.trusted, now)
        assert kept == renewed(kept, [HOST], now, TERMS), "what is settled stays settled"


@given(st.integers(0, 364))
@settings(max_examples=20)
def test_who_looks_when_told_to_never_serves_one_that_has_ended(days: int) -> None:
    now, kept = START + timedelta(days=days), made([HOST], START, TERMS)
    kept = renewed(kept, [HOST], now, TERMS)
    wait_s = look_again_s(kept, now, TERMS)
    assert 1 <= wait_s <= 3600
    assert is_trusted(kept.current, kept.trusted, now + timedelta(seconds=wait_s))


def test_the_next_one_is_trusted_before_it_is_served() -> None:
    first = made([HOST], START, TERMS)
    staged = renewed(first, [HOST], START + TERMS.good_for - TERMS.stage_before, TERMS)
    assert staged.current == first.current
    assert staged.following is not None
    assert staged.trusted.count(b"BEGIN CERTIFICATE") == 2
    later = renewed(staged, [HOST], START + TERMS.good_for - TERMS.renew_before, TERMS)
    assert (later.current, later.following) == (staged.following, None)
    assert later.trusted == staged.trusted, "a replica that has not heard of it yet is still known"
    ended = renewed(later, [HOST], START + TERMS.good_for + timedelta(days=1), TERMS)
    assert ended.trusted.count(b"BEGIN CERTIFICATE") == 1


def test_one_that_ended_while_nobody_looked_is_replaced_at_once() -> None:
    now = START + TERMS.good_for + timedelta(days=40)
    kept = renewed(made([HOST], START, TERMS), [HOST], now, TERMS)
    assert is_trusted(kept.current, kept.trusted, now)


def test_a_new_name_is_added_and_those_who_know_the_old_one_go_on() -> None:
    before = made(["127.0.0.1"], START, TERMS)
    after = renewed(before, [HOST], START, TERMS)
    assert is_trusted(after.current, after.trusted, START)
    assert before.trusted in after.trusted
    names = x509.load_pem_x509_certificate(after.current.certificate).extensions
    assert {str(each.value) for each in names.get_extension_for_class(x509.SubjectAlternativeName).value} == {
        "127.0.0.1",
        HOST,
    }


def test_no_key_of_an_authority_is_kept() -> None:
    kept: Certificates = made([HOST], START, TERMS)
    authority = x509.load_pem_x509_certificate(kept.trusted)
    assert authority.public_key() != x509.load_pem_x509_certificate(kept.current.certificate).public_key()
    assert b"PRIVATE" not in kept.trusted + kept.current.certificate
