"""The listener answers whatever comes: reviews, nonsense, and requests under way when it ends."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kube.serve.listener import Bind, Judge, Listener
from tidegate.kube.serve.reviews import Asked, NotAReviewError, allowed, parse, refused
from tidegate.kube.wire import Object
from tidegate.local.patch.json_patch import json_patch
from tidegate.model.json_patch import changes

Json = Any


def review(**request: Json) -> Json:
    said = {"uid": "1", "operation": "CREATE", "object": {"metadata": {"name": "a"}}, **request}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": said}


@contextlib.asynccontextmanager
async def listening(judge: Judge) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    listener = Listener(
        Bind(), reviews={"/door": judge}, pages={"/healthz": lambda: (200, "text/plain; charset=utf-8", b"ok\n")}
    )
    task = asyncio.create_task(listener.run())
    await listener.listening.wait()
    try:
        yield f"http://127.0.0.1:{listener.port}", task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def yes(asked: Asked) -> Object:
    return allowed(asked)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"{}", b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
        json.dumps(review(uid="")).encode(), json.dumps(review(object=[1])).encode(), b"\xff\xfe" * 40,
        json.dumps(review(userInfo="ann")).encode(), json.dumps(review(object={"metadata": 3})).encode(),
    ],
)  # fmt: skip
async def test_what_is_no_review_is_a_bad_request_that_says_why(body: bytes) -> None:
    async with listening(yes) as (url, _), aiohttp.request("POST", f"{url}/door", data=body) as answer:
        assert answer.status == 400
        assert (await answer.text()).startswith("This is not a review: ")


async def test_bodies_that_are_too_large_other_verbs_and_paths_are_refused() -> None:
    async with listening(yes) as (url, _), aiohttp.ClientSession() as session:
        async with session.post(f"{url}/door", data=io.BytesIO(b" " * (17 * 1024 * 1024))) as answer:
            assert answer.status == 413
        async with session.get(f"{url}/door") as answer:
            assert answer.status == 405
        async with session.post(f"{url}/nowhere", data=b"{}") as answer:
            assert answer.status == 404
        async with session.get(f"{url}/healthz") as answer:
            assert (answer.status, await answer.text()) == (200, "ok\n")


async def test_a_judgement_that_fails_is_an_error_and_not_a_yes() -> None:
    async def breaks(asked: Asked) -> Object:
        raise RuntimeError("broken")

    async with listening(breaks) as (url, _), aiohttp.request("POST", f"{url}/door", json=review()) as answer:
        assert answer.status == 500


async def test_what_is_under_way_is_answered_when_it_ends() -> None:
    came, go = asyncio.Event(), asyncio.Event()

    async def slow(asked: Asked) -> Object:
        came.set()
        await go.wait()
        return refused(asked, "no")

    async with listening(slow) as (url, task), aiohttp.ClientSession() as session:
        asking = asyncio.create_task(session.post(f"{url}/door", json=review()))
        await came.wait()
        task.cancel()
        await asyncio.sleep(0)
        go.set()
        async with await asking as answer:
            assert (await answer.json())["response"]["status"]["message"] == "no"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("a/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("a/~b", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_the_patch_of_an_answer_makes_what_was_wanted(old: Json, new: Json) -> None:
    """As the embedded server's own JSON Patch reads it, which is held against the real one elsewhere."""
    before, after = {"metadata": {}, "spec": old}, {"metadata": {}, "spec": new}
    assert json_patch(before, list(changes(before, after))) == after


def test_an_answer_carries_its_patch_only_where_something_changes() -> None:
    asked = parse(json.dumps(review()).encode())
    assert "patch" not in allowed(asked, dict(asked.obj))["response"]
    told = allowed(asked, {"metadata": {"name": "b"}}, warnings=("w" * 300,))["response"]
    assert json.loads(base64.b64decode(told["patch"])) == [{"op": "replace", "path": "/metadata/name", "value": "b"}]
    assert len(told["warnings"][0]) == 250


@given(st.binary(max_size=200))
def test_no_body_at_all_breaks_the_reader(body: bytes) -> None:
    with contextlib.suppress(NotAReviewError):
        parse(body)


@pytest.mark.parametrize("text", ["", "9443", "a:b", "127.0.0.1:70000", "127.0.0.1"])
def test_a_place_to_listen_is_host_and_port(text: str) -> None:
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        Bind.parse(text)
    assert (Bind.parse(":9443"), Bind.parse("[::1]:1")) == (Bind("", 9443), Bind("::1", 1))
