"""GET of one object."""

from __future__ import annotations

from tidegate.kube.wire import Response
from tidegate.local.apiserver.answers import answer_object
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.list import asked_revision
from tidegate.local.errors import not_found


async def get(api: Api, call: Call) -> Response:
    served = call.served
    asked_revision(api, call, call.query.get("resourceVersion", ""))
    row = api.store.get(served.key(call.namespace, call.name))
    if row is None:
        raise not_found(served.group, served.plural, call.name)
    return answer_object(call, 200, served.shown(row))
