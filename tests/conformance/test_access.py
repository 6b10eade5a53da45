"""Who may do what: tokens, roles, reviews, quotas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.conformance.objects import MERGE, RBAC, core, pod
from tests.harness import Cluster

Json = Any
REVIEWS = "/apis/authorization.k8s.io/v1"


def as_user(name: str) -> Mapping[str, str]:
    return {"Impersonate-User": name}


def allow(cluster: Cluster, namespace: str, user: str, *rules: Json) -> None:
    """Give `user` a role of these rules and wait until it is in force."""
    path = f"{RBAC}/namespaces/{namespace}"
    cluster.create(f"{path}/roles", {"metadata": {"name": f"{user}-role"}, "rules": list(rules)})
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": f"{user}-role"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    cluster.create(f"{path}/rolebindings", {"metadata": {"name": user}, "roleRef": ref, "subjects": [subject]})
    rule = rules[0]
    attributes = {
        "namespace": namespace,
        "verb": rule["verbs"][0].replace("*", "get"),
        "group": rule["apiGroups"][0],
        "resource": rule["resources"][0].split("/")[0],
        "subresource": "".join(rule["resources"][0].split("/")[1:]),
        "name": rule.get("resourceNames", [""])[0],
    }
    review = {"spec": {"user": user, "resourceAttributes": attributes}}
    cluster.eventually(
        "/version", lambda _: cluster.create(f"{REVIEWS}/subjectaccessreviews", review)["status"]["allowed"]
    )


def rule(resources: list[str], verbs: list[str], group: str = "", **more: Json) -> Json:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs, **more}


def test_nobody_may_anything_until_told(cluster: Cluster, namespace: str) -> None:
    reply = cluster.http("GET", core(namespace, "pods"), headers=as_user("nobody"))
    assert (reply.status, reply.reason) == (403, "Forbidden")
    assert reply.json["message"] == (
        f'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "{namespace}"'
    )


def test_verbs_resources_names_and_subresources_are_separate(cluster: Cluster, namespace: str) -> None:
    allow(
        cluster,
        namespace,
        "jane",
        rule(["configmaps"], ["get", "list"]),
        rule(["secrets"], ["get"], resourceNames=["mine"]),
        rule(["pods/status"], ["patch"]),
    )
    cluster.create(core(namespace, "secrets"), {"metadata": {"name": "mine"}})
    cluster.create(core(namespace, "pods"), pod("p"))

    def code(method: str, resource: str, body: Json = None) -> int:
        headers = {**as_user("jane"), **(MERGE if method == "PATCH" else {})}
        return cluster.http(method, core(namespace, resource), body, headers).status

    assert code("GET", "configmaps") == 200
    assert code("GET", "configmaps/kube-root-ca.crt") == 200
    assert code("DELETE", "configmaps/kube-root-ca.crt") == 403
    assert code("POST", "configmaps", {"metadata": {"name": "x"}}) == 403
    assert code("GET", "secrets/mine") == 200
    assert code("GET", "secrets/yours") == 403
    assert code("GET", "secrets") == 403
    assert code("PATCH", "pods/p/status", {"status": {"message": "hi"}}) == 200
    assert code("PATCH", "pods/p", {"metadata": {"labels": {"a": "b"}}}) == 403
    assert cluster.http("GET", "/api/v1/configmaps", headers=as_user("jane")).status == 403
    assert cluster.http("GET", "/api/v1/namespaces/default/configmaps", headers=as_user("jane")).status == 403


def test_a_change_of_a_role_is_in_force_at_once(cluster: Cluster, namespace: str) -> None:
    allow(cluster, namespace, "jane", rule(["configmaps"], ["list"]))
    cluster.http("DELETE", f"{RBAC}/namespaces/{namespace}/rolebindings/jane")
    path = core(namespace, "configmaps")
    cluster.eventually("/version", lambda _: cluster.http("GET", path, headers=as_user("jane")).status == 403)


def test_non_resource_paths_are_ruled_by_cluster_roles(cluster: Cluster, namespace: str) -> None:
    role = {"metadata": {"name": f"{namespace}-r"}, "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}
    cluster.create(f"{RBAC}/clusterroles", role)
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"{namespace}-r"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": namespace}
    binding = {"metadata": {"name": f"{namespace}-b"}, "roleRef": ref, "subjects": [subject]}
    assert cluster.http("GET", "/metrics", headers=as_user("x")).status == 403
    cluster.create(f"{RBAC}/clusterrolebindings", binding)
    headers = {**as_user("x"), "Impersonate-Group": namespace}
    cluster.eventually("/version", lambda _: cluster.http("GET", "/metrics", headers=headers).status != 403)
    for kind, name in (("clusterrolebindings", "b"), ("clusterroles", "r")):
        cluster.http("DELETE", f"{RBAC}/{kind}/{namespace}-{name}")


def test_nobody_gives_away_what_they_do_not_have(cluster: Cluster, namespace: str) -> None:
    allow(cluster, namespace, "boss", rule(["roles"], ["create", "get"], group="rbac.authorization.k8s.io"))
    body = {"metadata": {"name": "more"}, "rules": [rule(["secrets"], ["get"])]}
    reply = cluster.http("POST", f"{RBAC}/namespaces/{namespace}/roles", body, as_user("boss"))
    assert reply.status == 403
    assert "is attempting to grant RBAC permissions not currently held" in reply.json["message"]
    body["rules"] = [rule(["roles"], ["get"], group="rbac.authorization.k8s.io")]
    assert cluster.http("POST", f"{RBAC}/namespaces/{namespace}/roles", body, as_user("boss")).status == 201


def test_one_may_ask_what_one_may(cluster: Cluster, namespace: str) -> None:
    allow(cluster, namespace, "jane", rule(["pods"], ["list"]))

    def may(verb: str) -> bool:
        spec = {"resourceAttributes": {"namespace": namespace, "verb": verb, "resource": "pods"}}
        reply = cluster.http("POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": spec}, as_user("jane"))
        return bool(reply.json["status"]["allowed"])

    assert may("list")
    assert not may("delete")
    review = {"spec": {"namespace": namespace}}
    rules = cluster.http("POST", f"{REVIEWS}/selfsubjectrulesreviews", review, as_user("jane")).json["status"]
    assert {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]} in rules["resourceRules"]


def test_impersonation_needs_permission(cluster: Cluster, namespace: str) -> None:
    token = account_token(cluster, namespace)
    reply = cluster.http("GET", core(namespace, "pods"), headers=as_user("admin"), token=token)
    assert (reply.status, reply.reason) == (403, "Forbidden")


def account_token(cluster: Cluster, namespace: str, **spec: Json) -> str:
    token: str = cluster.create(core(namespace, "serviceaccounts/default/token"), {"spec": spec})["status"]["token"]
    return token


def test_a_service_account_is_known_by_its_token(cluster: Cluster, namespace: str) -> None:
    token = account_token(cluster, namespace)
    body: Json = {}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    user = cluster.http("POST", path, body, token=token).json["status"]["userInfo"]
    assert user["username"] == f"system:serviceaccount:{namespace}:default"
    assert f"system:serviceaccounts:{namespace}" in user["groups"]
    assert cluster.http("GET", core(namespace, "pods"), token=token).status == 403


def test_a_token_dies_with_what_it_is_bound_to(cluster: Cluster, namespace: str) -> None:
    made = cluster.create(core(namespace, "pods"), pod("p"))
    bound = {"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": made["metadata"]["uid"]}
    token = account_token(cluster, namespace, boundObjectRef=bound)
    path = "/apis/authentication.k8s.io/v1/tokenreviews"

    def good(_: object = None) -> bool:
        return bool(cluster.create(path, {"spec": {"token": token}})["status"].get("authenticated"))

    assert good()
    cluster.http("DELETE", core(namespace, "pods/p"))
    cluster.eventually("/version", lambda _: not good())


@pytest.mark.parametrize("token", ["rubbish", "a.b.c", "e30.e30.e30"])
def test_a_wrong_token_is_not_nobody(cluster: Cluster, namespace: str, token: str) -> None:
    reply = cluster.http("GET", core(namespace, "pods"), token=token)
    assert (reply.status, reply.reason) == (401, "Unauthorized")


def test_no_token_is_anonymous(cluster: Cluster, namespace: str) -> None:
    assert cluster.http("GET", core(namespace, "pods"), token="").status == 403
    assert cluster.http("GET", "/version", token="").status == 200


def test_quotas_count_and_refuse(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "resourcequotas")
    hard = {"pods": "1", "requests.cpu": "1", "count/configmaps": "3"}
    cluster.create(path, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    cluster.eventually(f"{path}/q", lambda reply: reply.json.get("status", {}).get("used", {}).get("pods") == "0")
    unsaid = cluster.http("POST", core(namespace, "pods"), pod("unsaid"))
    assert unsaid.status == 403
    assert "failed quota: q: must specify requests.cpu" in unsaid.json["message"]
    big = cluster.http("POST", core(namespace, "pods"), sized("big", "2"))
    assert (
        "exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1"
        in (big.json["message"])
    )
    assert cluster.http("POST", core(namespace, "pods"), sized("fits", "500m")).status == 201
    assert cluster.http("POST", core(namespace, "pods"), sized("second", "100m")).status == 403
    used = cluster.get(f"{path}/q")["status"]["used"]
    assert (used["pods"], used["requests.cpu"]) == ("1", "500m")
    cluster.http("DELETE", core(namespace, "pods/fits"))
    cluster.eventually(f"{path}/q", lambda reply: reply.json["status"]["used"]["pods"] == "0")


def sized(name: str, cpu: str) -> Json:
    made = pod(name)
    made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return made
