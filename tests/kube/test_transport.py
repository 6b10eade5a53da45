"""HTTP and TLS as they really are, on loopback."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.harness import certificates
from tests.kube.faultserver import Fault, FaultServer, running
from tidegate.kube.access import Access, Certificate, Trust
from tidegate.kube.client import Client
from tidegate.kube.credentials import Fixed
from tidegate.kube.resources import CONFIGMAPS
from tidegate.kube.transport import HttpTransport, Limits
from tidegate.kube.wire import Request


@asynccontextmanager
async def secure(server: FaultServer, files: certificates.Serving) -> AsyncIterator[str]:
    """Serves by TLS to those who show a certificate of the same authority."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(files.ca))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(files.cert, files.key)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    server.listening = listening
    try:
        yield f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        await server.stop()


async def test_a_client_certificate_is_shown_and_the_servers_is_checked(tmp_path: Path) -> None:
    files = certificates.serving(tmp_path)
    shown = Certificate(files.cert.read_bytes(), files.key.read_bytes())
    authority = files.ca.read_text()
    server = FaultServer()
    server.put("a")
    async with secure(server, files) as url:
        client = Client(HttpTransport(Access(url, Fixed(shown=shown), Trust(authority))))
        assert len((await client.list(CONFIGMAPS)).items) == 1
        await client.close()
        careless = Client(HttpTransport(Access(url, Fixed(shown=shown), Trust(verify=False))))
        assert len((await careless.list(CONFIGMAPS)).items) == 1
        await careless.close()
        named = Client(HttpTransport(Access(url, Fixed(shown=shown), Trust(authority, server_name="kubernetes"))))
        assert len((await named.list(CONFIGMAPS)).items) == 1
        await named.close()
        for doubtful in (Trust(), Trust(authority, server_name="elsewhere")):
            client = Client(HttpTransport(Access(url, Fixed(shown=shown), doubtful)))
            with pytest.raises(ConnectionError):
                await client.list(CONFIGMAPS)
            await client.close()


async def test_connections_are_used_again_and_bounded() -> None:
    server = FaultServer()
    async with running(server) as transport:
        client = Client(transport)
        await asyncio.gather(*(client.list(CONFIGMAPS) for _ in range(500)))
        assert len(server.writers) <= 64
        for _ in range(50):
            await client.list(CONFIGMAPS)
        assert len(server.writers) <= 64


async def test_watches_never_wait_for_a_free_connection() -> None:
    server = FaultServer()
    server.put("a")
    async with running(server) as transport:
        client = Client(transport)
        watches = [client.watch(CONFIGMAPS) for _ in range(100)]
        async with asyncio.timeout(10):
            events = await asyncio.gather(*(anext(watch) for watch in watches))
            assert {event.resource_version for event in events} == {"1"}
            await client.list(CONFIGMAPS)
        for watch in watches:
            await watch.aclose()


async def test_a_server_that_says_nothing_is_given_up() -> None:
    server = FaultServer()
    server.list_faults.append(Fault("hang"))
    async with running(server) as transport:
        with pytest.raises(TimeoutError, match="in time"):
            await Client(transport).list(CONFIGMAPS)


async def test_paths_and_queries_arrive_as_they_were_meant() -> None:
    server = FaultServer()
    async with running(server) as transport:
        await transport.send(Request("GET", "/a b/ü%2F?#:@", {"labelSelector": "a in (b,c),d!=e&f"}, {}))
        call = server.calls[0]
        assert call.path == "/a%20b/%C3%BC%252F%3F%23:@"
        assert call.query == {"labelSelector": "a in (b,c),d!=e&f"}


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with running(FaultServer()) as transport:
        await Client(transport).list(CONFIGMAPS)


async def test_a_token_is_not_sent_in_the_clear_to_another_machine() -> None:
    server = FaultServer()
    async with running(server):
        for host, sent in (("127.0.0.1", "Bearer t"), ("elsewhere.invalid", None)):
            transport = HttpTransport(Access(f"http://{host}:{server.port}", Fixed.token("t")), limits=Limits())
            assert await transport._authorization() == sent
            await transport.close()


async def test_impersonation_sends_each_group() -> None:
    server = FaultServer()
    async with running(server):
        groups = (("Impersonate-User", "jane"), ("Impersonate-Group", "b"))
        access = Access(f"http://127.0.0.1:{server.port}", Fixed(), impersonate=groups)
        client = Client(HttpTransport(access))
        await client.list(CONFIGMAPS)
        await client.close()
    headers = server.calls[0].headers
    assert (headers["impersonate-user"], headers["impersonate-group"]) == ("jane", "b")
