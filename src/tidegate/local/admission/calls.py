"""Calling a webhook: an AdmissionReview there and back, over HTTPS, within its time."""

from __future__ import annotations

import asyncio
import base64
import ssl
import uuid
from typing import TYPE_CHECKING, Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.hooks import Hook
from tidegate.local.apiserver.answers import decode, encode
from tidegate.local.apiserver.served import Served
from tidegate.local.store import Store

if TYPE_CHECKING:
    import aiohttp

_MOST_ANSWER = 10 * 1024 * 1024


class HookError(Exception):
    """The webhook could not be asked, or its answer makes no sense."""


class Caller:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._sessions: dict[str, aiohttp.ClientSession] = {}

    async def ask(self, hook: Hook, asked: Attributes) -> Object:
        """The `response` of the webhook's review. Raises HookError."""
        review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request_of(asked)}
        url, name = self._address(hook)
        import aiohttp

        try:
            async with asyncio.timeout(hook.timeout_s):
                session = self._session(hook.client.get("caBundle") or "")
                headers = {"content-type": "application/json", "accept": "application/json"}
                query = {"timeout": f"{hook.timeout_s:g}s"}
                call = session.post(url, data=encode(review), headers=headers, params=query, server_hostname=name)
                async with call as answer:
                    body = await answer.content.read(_MOST_ANSWER)
                    if answer.status != 200:
                        raise HookError(f"the server answered {answer.status}: {body[:200].decode(errors='replace')}")
        except TimeoutError:
            raise HookError(f'failed to call webhook: Post "{url}": context deadline exceeded') from None
        except (aiohttp.ClientError, OSError, ssl.SSLError) as error:
            raise HookError(f'failed to call webhook: Post "{url}": {error}') from None
        return _response(body, review["request"]["uid"])  # type: ignore[index]

    def _session(self, bundle: str) -> aiohttp.ClientSession:
        import aiohttp

        known = self._sessions.get(bundle)
        if known is None or known.closed:
            try:
                pem = base64.b64decode(bundle).decode() if bundle else None
                context = ssl.create_default_context(cadata=pem)
            except (ValueError, ssl.SSLError) as error:
                raise HookError(f"unable to load root certificates: {error}") from None
            known = self._sessions[bundle] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
        return known

    def _address(self, hook: Hook) -> tuple[str, str | None]:
        """Where the webhook listens, and the name its certificate must be for if that is not in the address."""
        if url := hook.client.get("url"):
            return url, None
        service = hook.client["service"]
        namespace, name, port = service["namespace"], service["name"], service.get("port", 443)
        row = self._store.get(f"core/services/{namespace}/{name}")
        if row is None:
            raise HookError(f'failed to call webhook: service "{name}" not found')
        host, target = self._endpoint(namespace, name, decode(row.value), port)
        path = (service.get("path") or "").lstrip("/")
        return f"https://{host}:{target}/{path}", f"{name}.{namespace}.svc"

    def _endpoint(self, namespace: str, name: str, service: Object, port: int) -> tuple[str, int]:
        """An address behind the Service: without kube-proxy, the API server goes to an endpoint itself."""
        found = next((each for each in service["spec"].get("ports") or [] if each["port"] == port), None)
        if found is None:
            raise HookError(f'failed to call webhook: no service port {port} found for service "{name}"')
        for row in self._store.range(f"discovery.k8s.io/endpointslices/{namespace}/"):
            piece = decode(row.value)
            if (piece["metadata"].get("labels") or {}).get("kubernetes.io/service-name") != name:
                continue
            ports = {each.get("name") or "": each.get("port") for each in piece.get("ports") or []}
            ready = [e for e in piece.get("endpoints") or [] if (e.get("conditions") or {}).get("ready", True)]
            target = ports.get(found.get("name") or "")
            if ready and target:
                return ready[0]["addresses"][0], target
        raise HookError(f'failed to call webhook: no endpoints available for service "{name}"')

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()


def _response(body: bytes, uid: Any) -> Object:
    try:
        review = msgspec.json.decode(body)
        response = review["response"]
    except (msgspec.DecodeError, KeyError, TypeError):
        raise HookError("webhook response could not be read: it is not an AdmissionReview with a response") from None
    if review.get("kind") != "AdmissionReview" or review.get("apiVersion") != "admission.k8s.io/v1":
        said = f"{review.get('apiVersion')}, Kind={review.get('kind')}"
        raise HookError(f"expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {said}")
    if response.get("uid") != uid:
        raise HookError(f"expected response.uid={uid}, got {response.get('uid')}")
    return dict(response)


def _words_for(served: Served) -> tuple[Object, Object]:
    version = {"group": served.group, "version": served.version}
    return version | {"kind": served.kind}, version | {"resource": served.plural}


def request_of(asked: Attributes) -> Object:
    """The write as webhooks and policies see it."""
    from tidegate.local.apiserver.reviews import user_info

    kind, resource = _words_for(asked.served)
    request: Object = {"uid": str(uuid.uuid4()), "kind": kind, "resource": resource}
    if asked.subresource:
        request["subResource"] = asked.subresource
    request |= dict(zip(("requestKind", "requestResource"), _words_for(asked.requested or asked.served), strict=True))
    if asked.subresource:
        request["requestSubResource"] = asked.subresource
    request |= {"name": asked.name, "operation": asked.operation, "userInfo": user_info(asked.user)}
    if asked.namespace:
        request["namespace"] = asked.namespace
    request |= {"object": asked.obj, "oldObject": asked.old, "dryRun": asked.dry_run, "options": asked.options or None}
    return request
