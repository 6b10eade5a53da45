"""What is installed, as data: current in deploy/, least in rights, safe in its settings."""

from __future__ import annotations

import ast
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.test_commands import tidegate
from tests.harness import Cluster
from tidegate import controller
from tidegate.cli.installed.operator import register
from tidegate.cli.main import main
from tidegate.controller import kinds as own
from tidegate.controller.doors.hooks import Target, Where, mutating
from tidegate.controller.installation.deployment import Choice, arguments, deployment
from tidegate.controller.installation.rights import cluster_rules, own_rules, roles_for_people
from tidegate.kube import resources as r
from tidegate.kube.wire import Resource
from tidegate.model.jobs import builtin

Json = Any
RULES = [*cluster_rules(builtin()), *own_rules()]


def test_no_right_is_given_with_a_star() -> None:
    for rule in RULES:
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]


def test_of_secrets_and_configurations_it_may_touch_only_its_own() -> None:
    for rule in RULES:
        if {"secrets", "configmaps"} & set(rule["resources"]) or "admissionregistration.k8s.io" in rule["apiGroups"]:
            assert rule["verbs"] == ["create"] or rule["resourceNames"]
    assert not any("secrets" in rule["resources"] for rule in cluster_rules(builtin()))


def test_every_kind_of_the_table_may_be_read_and_changed() -> None:
    may = {(group, name) for rule in RULES for group in rule["apiGroups"] for name in rule["resources"]
           if {"get", "list", "watch", "update"} <= set(rule["verbs"])}  # fmt: skip
    assert {(entry.group, entry.plural) for entry in builtin().entries} <= may


def written() -> Iterator[tuple[str, str, str, bool]]:
    """Every write in the operator's code: file, verb, the resource as the code calls it, and whether to its status."""
    for path in sorted(Path(controller.__path__[0]).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="_client"), attr=verb), args=[to, *_]):
                    if verb in {"create", "update", "patch", "delete"} and isinstance(to, ast.Name):
                        yield path.name, verb, to.id, any(each.arg == "subresource" for each in node.keywords)


def test_what_the_code_writes_it_may_write() -> None:
    """Whoever lets the operator write something new gives it the right to."""
    known = {name: each for room in (own, r) for name, each in vars(room).items() if isinstance(each, Resource)}
    may = {(group, name, verb) for rule in RULES for group in rule["apiGroups"] for name in rule["resources"]
           for verb in rule["verbs"]}  # fmt: skip
    found = list(written())
    assert len(found) > 10
    for path, verb, name, status in found:
        if name in known:
            resource = known[name]
            assert (resource.group, resource.plural + ("/status" if status else ""), verb) in may, (path, name)


def test_nobody_of_the_people_may_grant() -> None:
    granting = [
        rule for role in roles_for_people() for rule in role["rules"] if "workloads/status" in rule["resources"]
    ]
    assert granting == []


def test_the_operator_understands_the_arguments_of_its_deployment() -> None:
    import argparse

    parser = argparse.ArgumentParser()
    register(parser)
    command, *rest = arguments(Choice("tidegate:dev", everywhere=True))
    told = parser.parse_args(rest)
    assert (command, told.manage, told.webhook_bind) == ("operator", "all", ":9443")


def test_a_kind_of_ones_own_comes_with_its_file_and_its_rights(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[3] / "examples/03-other-schedulers/own-kind.yaml"
    assert main(["install", "--dry-run", "--kinds", str(example)]) == 0
    made = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(capsys.readouterr().out)}
    assert made["ConfigMap", "tidegate-kinds"]["data"] == {"0.yaml": example.read_text()}
    assert any("sweeps" in rule["resources"] for rule in made["ClusterRole", "tidegate"]["rules"])
    container = made["Deployment", "tidegate"]["spec"]["template"]["spec"]["containers"][0]
    assert "--kinds=/etc/tidegate/kinds/0.yaml" in container["args"]
    assert {"name": "kinds", "mountPath": "/etc/tidegate/kinds"} in container["volumeMounts"]


def test_it_runs_as_nobody_on_a_file_system_it_cannot_write() -> None:
    pod = deployment(Choice("tidegate:dev"))["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("everywhere", [False, True])
def test_no_webhook_is_asked_about_a_namespace_that_is_not_ruled(everywhere: bool) -> None:
    """Judged as a server judges: by the labels of the namespace, and for prefixes by a condition."""
    hooks = mutating(builtin(), Target(url="https://x"), Where(everywhere=everywhere, own="tidegate-system"))[
        "webhooks"
    ]
    for name, labels in (("kube-system", {}), ("tidegate-system", {}), ("free", {"tidegate.dev/managed": "false"})):
        for hook in hooks:
            assert not _selects(hook["namespaceSelector"], {"kubernetes.io/metadata.name": name, **labels})
    unlabelled = {"kubernetes.io/metadata.name": "team"}
    assert any(_selects(hook["namespaceSelector"], unlabelled) for hook in hooks) is everywhere
    for hook in hooks:
        if _selects(hook["namespaceSelector"], unlabelled):
            assert "!request.namespace.startsWith('kube-')" in [each["expression"] for each in hook["matchConditions"]]


def test_an_address_that_is_taken_is_told_in_a_sentence(embedded_cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        done = tidegate("operator", "--kubeconfig", str(embedded_cluster.kubeconfig), "--metrics-bind", bind)
    assert done.returncode == 1
    assert f"Nothing can be served at {bind} (Address already in use)" in done.stderr
    assert "Traceback" not in done.stderr


def _selects(selector: Json, labels: dict[str, str]) -> bool:
    return all(
        (labels.get(each["key"]) in each["values"]) is (each["operator"] == "In")
        for each in selector["matchExpressions"]
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["operator", "--webhook-url", "http://x"], "--webhook-url is no https:// address"),
        (["operator", "--webhook-url", "https://x", "--webhook-service", "a/b"], "say two places"),
        (["operator", "--webhook-service", "only-a-name"], "is not NAMESPACE/NAME"),
        (["operator", "--webhook-url", "https://x", "--webhook-bind", "9443"], "is not HOST:PORT"),
        (["operator", "--metrics-bind", "here"], "is not HOST:PORT"),
        (["operator", "--dialects", "nowhere.yaml"], "--dialects needs webhooks"),
        (["operator", "--webhook-url", "https://x", "--dialects", "nowhere.yaml"], "cannot be read"),
    ],
)
def test_wrong_flags_are_told_in_sentences(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == (1 if says == "cannot be read" else 2)
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert says in said.err
