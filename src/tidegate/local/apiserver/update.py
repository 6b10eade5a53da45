"""PUT: the whole object, or the whole of its status."""

from __future__ import annotations

from tidegate.kube.wire import Object, Response
from tidegate.local.access.rbac import Question
from tidegate.local.apiserver.answers import answer_object
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import decoded_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.identity import check_name, put_in_namespace
from tidegate.local.apiserver.options import check_options
from tidegate.local.apiserver.write import create_object, update_object


async def update(api: Api, call: Call) -> Response:
    check_options(call, "UpdateOptions")
    served, obj = call.served, decoded_body(call)
    metadata = obj.setdefault("metadata", {})
    put_in_namespace(call, metadata)
    check_name(call, metadata)
    missing = api.store.newest(served.key(call.namespace, call.name)) is None
    if missing and served.strategy.creates_on_update and not call.subresource:
        api.access.authorize(call.user, Question("create", served.group, served.plural, "", call.namespace, call.name))
        metadata.pop("resourceVersion", None)
        return answer_object(call, 201, await create_object(api, call, obj))
    unused = [obj]

    def fresh(_: Object) -> Object:
        return unused.pop() if unused else decoded_body(call)  # Admission and preparation change what they are given.

    written = await update_object(api, call, fresh, patched=False)
    return answer_object(call, 200, written.value)
