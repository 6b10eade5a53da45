"""POST of a new object."""

from __future__ import annotations

from tidegate.kube.wire import Response
from tidegate.local.apiserver.answers import answer_object
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import decoded_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.options import check_options
from tidegate.local.apiserver.write import create_object


async def create(api: Api, call: Call) -> Response:
    check_options(call, "CreateOptions")
    value = await create_object(api, call, decoded_body(call))
    return answer_object(call, 201, value)
