"""Questions about access, asked through the API: reviews are answered and never stored."""

from __future__ import annotations

from tidegate.kube.wire import Object, Response
from tidegate.local.access.rbac import Question
from tidegate.local.access.tokens import ISSUER
from tidegate.local.access.users import User
from tidegate.local.apiserver.answers import answer_data
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.bodies import decoded_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.identity import put_in_namespace
from tidegate.local.apiserver.options import check_options
from tidegate.local.errors import bad_request, invalid_object


async def self_subject_access_review(api: Api, call: Call) -> Response:
    return _reviewed(api, call, call.user)


async def subject_access_review(api: Api, call: Call) -> Response:
    spec = decoded_body(call).get("spec") or {}
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    user = User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)
    return _reviewed(api, call, user)


def _reviewed(api: Api, call: Call, user: User) -> Response:
    check_options(call, "CreateOptions")
    review = decoded_body(call)
    spec = review.setdefault("spec", {})
    if call.served.namespaced:
        put_in_namespace(call, review.setdefault("metadata", {}))
    errors = call.served.strategy.validate_create(review)
    if errors:
        raise invalid_object(call.served.group, "", "", errors)
    because = api.access.allowed(user, _question(spec))
    review["status"] = {"allowed": bool(because), **({"reason": because} if because else {})}
    return answer_data(call, 201, review)


def _question(spec: Object) -> Question:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if path is not None:
        return Question(path.get("verb", ""), path=path.get("path", ""))
    assert resource is not None
    asked = (resource.get(key, "") for key in ("verb", "group", "resource", "subresource", "namespace", "name"))
    return Question(*asked)


async def self_subject_rules_review(api: Api, call: Call) -> Response:
    check_options(call, "CreateOptions")
    review = decoded_body(call)
    namespace = review.get("spec", {}).get("namespace", "")
    if not namespace:
        raise bad_request("no namespace on request")
    rules = api.access.rules_of(call.user, namespace)
    resource = [
        {"verbs": list(rule.verbs), "apiGroups": list(rule.api_groups), "resources": list(rule.resources)}
        | ({"resourceNames": list(rule.resource_names)} if rule.resource_names else {})
        for rule in rules
        if rule.resources
    ]
    paths = [
        {"verbs": list(rule.verbs), "nonResourceURLs": list(rule.non_resource_urls)}
        for rule in rules
        if rule.non_resource_urls
    ]
    status = {"resourceRules": resource, "nonResourceRules": paths, "incomplete": False}
    # The question is not repeated: what comes back is a new object.
    head = {"kind": review["kind"], "apiVersion": review["apiVersion"], "metadata": {}, "spec": {}}
    return answer_data(call, 201, head | {"status": status})


async def self_subject_review(api: Api, call: Call) -> Response:
    check_options(call, "CreateOptions")
    review = decoded_body(call)
    review["status"] = {"userInfo": user_info(call.user)}
    return answer_data(call, 201, review)


async def token_review(api: Api, call: Call) -> Response:
    check_options(call, "CreateOptions")
    review = decoded_body(call)
    spec = review.get("spec", {})
    token = spec.get("token", "")
    if not token:
        raise bad_request("token is required for TokenReview in authentication")
    audiences = spec.get("audiences") or [ISSUER]
    for audience in audiences:
        if user := api.access.tokens.user_of(token, audience):
            review["status"] = {"authenticated": True, "user": user_info(user), "audiences": [audience]}
            return answer_data(call, 201, review)
    review["status"] = {"user": {}, "error": "invalid bearer token"}
    return answer_data(call, 201, review)


def user_info(user: User) -> Object:
    info: Object = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info
