"""PUT: the whole object, or the whole of its status."""

from __future__ import annotations

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_object
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import decoded_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.write import create_object, update_object
from tidegate.local.errors import bad_request


async def update(api: Api, call: Call) -> Response:
    obj = decoded_body(call)
    named = obj.get("metadata", {}).get("name")
    if not named:
        message = "the name of the object (<empty>) does not match the name on the URL"
        raise bad_request(f"{message} ({call.name})" if not call.served.custom else "name must be provided")
    served = call.served
    missing = api.store.newest(served.key(call.namespace, call.name)) is None
    if missing and served.strategy.creates_on_update and not call.subresource:
        obj["metadata"].pop("resourceVersion", None)
        return answer_object(call, 201, await create_object(api, call, obj))
    first = [obj]

    def fresh(_: Object) -> Object:
        # Another try reads the body again: admission and preparation have changed what they were given.
        return first.pop() if first else decoded_body(call)

    written = await update_object(api, call, fresh, patched=False)
    return answer_object(call, 200, written.value)
