"""The real kubectl, unmodified: every verb people use, on both servers."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.objects import CRDS, STRATEGIC, core, definition
from tests.harness import Cluster
from tools.build_kube import assets

pytestmark = pytest.mark.kube
Json = Any

SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: blue}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: host}]}
"""


class Kubectl:
    """kubectl in one namespace; a command that fails fails the test with what it said."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster, self.namespace = cluster, namespace

    def __call__(self, *args: str, stdin: str | None = None, code: int = 0, **env: str) -> str:
        done = self.cluster.kubectl("-n", self.namespace, *args, stdin=stdin, env=env)
        assert done.code == code, f"kubectl {' '.join(args)}: {done.code}\n{done.out}\n{done.err}"
        return done.out + (done.err if code else "")

    def json(self, *args: str) -> Json:
        return json.loads(self(*args, "-o", "json"))


@pytest.fixture
def kubectl(cluster: Cluster, namespace: str) -> Kubectl:
    return Kubectl(cluster, namespace)


def test_apply_creates_configures_and_leaves_alone(kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", stdin=SETTINGS) == "configmap/settings created\n"
    assert kubectl("apply", "-f", "-", stdin=SETTINGS) == "configmap/settings unchanged\n"
    changed = SETTINGS.replace("blue", "green")
    assert kubectl("apply", "-f", "-", stdin=changed) == "configmap/settings configured\n"
    removed = SETTINGS.replace("data: {colour: blue}", "data: {size: big}")
    kubectl("apply", "-f", "-", stdin=removed)
    assert kubectl.json("get", "cm", "settings")["data"] == {"size": "big"}


def test_what_get_prints_can_be_applied_again(kubectl: Kubectl) -> None:
    """A `kind: List`: kubectl checks it by the document of version 2, which it asks for as protobuf alone."""
    kubectl("apply", "-f", "-", stdin=f"{SETTINGS}\n---\n{DEPLOYMENT}")
    listed = kubectl.json("get", "configmap/settings", "deployment/web")
    assert listed["kind"] == "List"
    assert kubectl("apply", "-f", "-", stdin=json.dumps(listed)).count("configured") == 2
    for each in listed["items"]:
        each["metadata"] = {"name": f"{each['metadata']['name']}-again"}
        each.pop("status", None)
    assert kubectl("create", "-f", "-", stdin=json.dumps(listed)).count("created") == 2
    listed["items"][1]["spec"]["replicas"] = "many"
    assert "replicas" in kubectl("apply", "-f", "-", stdin=json.dumps(listed), code=1)
    listed["items"][1]["spec"] |= {"replicas": 1, "replicaz": 1}
    assert 'unknown field "replicaz"' in kubectl("apply", "-f", "-", stdin=json.dumps(listed), code=1)


def test_apply_of_a_deployment_three_ways(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl("set", "env", "deployment/web", "BY=hand")
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT.replace("image: host", "image: python"))
    (container,) = kubectl.json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "python"
    assert container["env"] == [{"name": "BY", "value": "hand"}]


def test_apply_refuses_what_the_schema_does_not_know(kubectl: Kubectl) -> None:
    said = kubectl("apply", "-f", "-", stdin=SETTINGS.replace("\ndata:", "\ndota:"), code=1)
    assert 'unknown field "dota"' in said


def test_server_side_apply_conflicts_and_forces(kubectl: Kubectl) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    assert "serverside-applied" in kubectl(*apply, stdin=SETTINGS)
    other = SETTINGS.replace("blue", "red")
    said = kubectl(*apply, "--field-manager=other", stdin=other, code=1)
    assert 'conflict with "kubectl"' in said
    kubectl(*apply, "--field-manager=other", "--force-conflicts", stdin=other)
    assert kubectl.json("get", "cm", "settings")["data"] == {"colour": "red"}


def test_diff_shows_and_changes_nothing(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    assert kubectl("diff", "-f", "-", stdin=SETTINGS) == ""
    said = kubectl("diff", "-f", "-", stdin=SETTINGS.replace("blue", "green"), code=1)
    assert "-  colour: blue" in said
    assert "+  colour: green" in said
    assert kubectl.json("get", "cm", "settings")["data"] == {"colour": "blue"}


def test_create_makes_every_kind_it_knows(kubectl: Kubectl) -> None:
    """These go out as protobuf, and there is no second try."""
    name = kubectl.namespace
    for args in (
        ("namespace", f"{name}-2"),
        ("configmap", "cm", "--from-literal=a=b"),
        ("secret", "generic", "s", "--from-literal=a=b"),
        ("job", "j", "--image=host", "--", "true"),
        ("cronjob", "c", "--image=host", "--schedule=0 0 1 1 *"),
        ("deployment", "d", "--image=host", "--replicas=0"),
        ("quota", "q", "--hard=pods=5"),
        ("serviceaccount", "robot"),
        ("service", "clusterip", "svc", "--tcp=80:8080"),
        ("role", "r", "--verb=get", "--resource=pods"),
        ("rolebinding", "rb", "--role=r", "--user=jane"),
        ("clusterrole", f"{name}-cr", "--verb=get", "--resource=nodes"),
        ("clusterrolebinding", f"{name}-crb", f"--clusterrole={name}-cr", "--user=jane"),
        ("priorityclass", f"{name}-pc", "--value=10"),
        ("poddisruptionbudget", "pdb", "--selector=a=b", "--min-available=1"),
        ("ingress", "i", "--rule=a.b/c=svc:80"),
    ):
        assert "created" in kubectl("create", *args), args
    assert kubectl("create", "token", "robot").count(".") == 2
    assert kubectl.json("get", "job", "j")["spec"]["template"]["spec"]["containers"][0]["command"] == ["true"]
    said = kubectl("create", "configmap", "cm", code=1)
    assert 'configmaps "cm" already exists' in said
    kubectl("delete", "ns", f"{name}-2", "--wait=false")
    for kind in ("clusterrolebinding", "clusterrole", "priorityclass"):
        suffix = {"clusterrolebinding": "crb", "clusterrole": "cr", "priorityclass": "pc"}[kind]
        kubectl("delete", kind, f"{name}-{suffix}")


def test_dry_runs_print_what_would_be(kubectl: Kubectl) -> None:
    made = kubectl("create", "cm", "a", "--from-literal=x=y", "--dry-run=server", "-o", "name")
    assert made == "configmap/a\n"
    assert "NotFound" in kubectl("get", "cm", "a", code=1)


def test_get_prints_tables_names_and_paths(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    lines = kubectl("get", "cm", "settings").splitlines()
    assert lines[0].split() == ["NAME", "DATA", "AGE"]
    assert lines[1].split()[:2] == ["settings", "1"]
    assert kubectl("get", "cm", "-l", "app=web", "-o", "name") == "configmap/settings\n"
    assert kubectl("get", "cm", "settings", "-o", "jsonpath={.data.colour}") == "blue"
    assert "colour: blue" in kubectl("get", "cm", "settings", "-o", "yaml")
    assert "NAMESPACE" in kubectl("get", "cm", "-A")
    assert "settings" in kubectl("get", "cm", "--show-labels", "--sort-by=.metadata.name")
    assert 'configmaps "absent" not found' in kubectl("get", "cm", "absent", code=1)
    assert "the server doesn't have a resource type" in kubectl("get", "gizmos", code=1)


def test_get_watch_prints_changes_as_they_come(kubectl: Kubectl) -> None:
    command = [str(assets() / "kubectl"), "-n", kubectl.namespace, "get", "cm", "-l", "app=web", "-w", "-o", "name"]
    env = kubectl.cluster.kubectl_env()
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        stop = threading.Timer(30, watching.kill)
        stop.start()
        assert watching.stdout.readline() == "configmap/settings\n"
        kubectl("create", "-f", "-", stdin=SETTINGS.replace("name: settings", "name: second"))
        assert watching.stdout.readline() == "configmap/second\n"
        stop.cancel()
        watching.kill()


def test_describe_shows_the_object_and_its_events(kubectl: Kubectl) -> None:
    pod = {
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"nodeName": "far", "containers": [{"name": "main", "image": "host"}]},
    }
    made = kubectl.cluster.create(core(kubectl.namespace, "pods"), pod)
    involved = {"kind": "Pod", "namespace": kubectl.namespace, "name": "p", "uid": made["metadata"]["uid"]}
    event = {"metadata": {"name": "e"}, "involvedObject": involved, "reason": "Tested", "message": "hello", "count": 1}
    event |= {"type": "Normal", "lastTimestamp": made["metadata"]["creationTimestamp"]}
    kubectl.cluster.create(core(kubectl.namespace, "events"), event)
    said = kubectl("describe", "pod", "p")
    assert "Name:             p" in said
    assert "Tested" in said
    for thing in ("ns/" + kubectl.namespace, "cm/kube-root-ca.crt", "sa/default"):
        assert "Name:" in kubectl("describe", thing)


def test_edit_sends_what_the_editor_left(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    editor = tmp_path / "editor"
    editor.write_text(f"#!{sys.executable}\nimport sys, pathlib\np = pathlib.Path(sys.argv[1])\n"
                      "p.write_text(p.read_text().replace('blue', 'white'))\n")  # fmt: skip
    editor.chmod(0o755)
    assert "edited" in kubectl("edit", "cm", "settings", EDITOR=str(editor))
    assert kubectl.json("get", "cm", "settings")["data"] == {"colour": "white"}


def test_patch_label_annotate(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl("patch", "deploy", "web", "-p", '{"spec":{"paused":true}}')
    kubectl("patch", "deploy", "web", "--type=merge", "-p", '{"spec":{"minReadySeconds":3}}')
    kubectl("patch", "deploy", "web", "--type=json", "-p", '[{"op":"remove","path":"/spec/minReadySeconds"}]')
    kubectl("patch", "deploy", "web", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":0}}')
    kubectl("label", "deploy", "web", "team=red")
    assert "already has a value" in kubectl("label", "deploy", "web", "team=blue", code=1)
    kubectl("label", "deploy", "web", "team=blue", "--overwrite")
    kubectl("annotate", "deploy", "web", "note=hello")
    seen = kubectl.json("get", "deploy", "web")
    assert seen["spec"]["paused"]
    assert "minReadySeconds" not in seen["spec"]
    assert seen["metadata"]["labels"]["team"] == "blue"
    assert seen["metadata"]["annotations"]["note"] == "hello"
    kubectl("label", "deploy", "web", "team-")
    assert "team" not in kubectl.json("get", "deploy", "web")["metadata"].get("labels", {})


def test_replace_and_delete(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=SETTINGS)
    kubectl("replace", "-f", "-", stdin=SETTINGS.replace("blue", "black"))
    assert kubectl.json("get", "cm", "settings")["data"] == {"colour": "black"}
    assert 'configmap "settings" deleted' in kubectl("delete", "-f", "-", stdin=SETTINGS)
    assert "not found" in kubectl("delete", "cm", "settings", code=1)
    kubectl("delete", "cm", "settings", "--ignore-not-found")
    kubectl("create", "-f", "-", stdin=SETTINGS)
    kubectl("delete", "cm", "-l", "app=web")
    assert kubectl("get", "cm", "-l", "app=web", "-o", "name") == ""


def test_wait_for_condition_field_and_deletion(kubectl: Kubectl) -> None:
    path = core(kubectl.namespace, "pods")
    kubectl.cluster.create(path, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "m", "image": "host"}]}})

    def later() -> None:
        ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        kubectl.cluster.http("PATCH", f"{path}/p/status", ready, STRATEGIC)
        kubectl.cluster.close()

    timer = threading.Timer(0.5, later)
    timer.start()
    assert "condition met" in kubectl("wait", "pod/p", "--for=condition=Ready", "--timeout=60s")
    timer.join()
    kubectl("wait", "pod/p", "--for=jsonpath={.status.phase}=Running", "--timeout=60s")
    assert "timed out" in kubectl("wait", "pod/p", "--for=condition=Nothing", "--timeout=1s", code=1)
    kubectl("delete", "pod", "p", "--wait=false")
    kubectl("wait", "pod/p", "--for=delete", "--timeout=60s")


def test_scale_and_rollout(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
    kubectl("scale", "deploy/web", "--replicas=2", "--current-replicas=0")
    assert kubectl.json("get", "deploy", "web")["spec"]["replicas"] == 2
    assert (
        "expected replicas to be 0"
        in kubectl("scale", "deploy/web", "--replicas=3", "--current-replicas=0", code=1).lower()
    )
    kubectl("scale", "deploy/web", "--replicas=0")
    assert "successfully rolled out" in kubectl("rollout", "status", "deploy/web", "--timeout=30s")
    kubectl("rollout", "restart", "deploy/web")
    annotations = kubectl.json("get", "deploy", "web")["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in annotations
    assert "REVISION" in kubectl("rollout", "history", "deploy/web")


def test_explain_reads_the_schema(kubectl: Kubectl) -> None:
    assert "restartPolicy" in kubectl("explain", "pod.spec")
    assert "FIELD: backoffLimit <integer>" in kubectl("explain", "job.spec.backoffLimit")
    assert "does not exist" in kubectl("explain", "pod.spec.nonsense", code=1)


def test_custom_kinds_are_first_class(kubectl: Kubectl) -> None:
    group = f"{kubectl.namespace}.example.com"
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "description": "how big"}}}
        },
    }
    made = definition(
        group, schema=schema, additionalPrinterColumns=[{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    )
    kubectl.cluster.create(CRDS, made)
    kubectl.cluster.eventually(f"/apis/{group}/v1", lambda reply: reply.status == 200)
    kubectl("wait", "--for=condition=Established", f"crd/widgets.{group}", "--timeout=60s")
    widget = f"apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: w}}\nspec: {{size: 3}}\n"
    kubectl.cluster.eventually("/openapi/v3", lambda reply: f"apis/{group}/v1" in reply.json["paths"])
    kubectl("apply", "-f", "-", stdin=widget)
    kubectl("apply", "-f", "-", stdin=widget.replace("3", "4"))
    assert kubectl("get", f"widgets.{group}").split() == ["NAME", "SIZE", "w", "4"]
    assert "how big" in kubectl("explain", "widgets.spec.size", f"--api-version={group}/v1")
    assert "unknown field" in kubectl("apply", "-f", "-", stdin=widget.replace("size", "sise"), code=1)
    kubectl("delete", "-f", "-", stdin=widget)


def test_auth_can_i_and_whoami(kubectl: Kubectl) -> None:
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "no" in kubectl("auth", "can-i", "create", "pods", "--as=jane", code=1)
    kubectl("create", "role", "r", "--verb=get,list", "--resource=pods")
    kubectl("create", "rolebinding", "rb", "--role=r", "--user=jane")
    assert "pods" in kubectl("auth", "can-i", "--list", "--as=jane")
    assert "jane" in kubectl("auth", "whoami", "--as=jane")


def test_api_resources_versions_and_cluster_info(kubectl: Kubectl) -> None:
    names = kubectl("api-resources", "-o", "name").split()
    assert {"pods", "jobs.batch", "deployments.apps", "leases.coordination.k8s.io"} <= set(names)
    assert "batch/v1" in kubectl("api-versions").split()
    assert "Server Version: v1.36" in kubectl("version")
    assert "is running at" in kubectl("cluster-info")


def test_events_and_quota_are_listed(kubectl: Kubectl) -> None:
    kubectl("create", "quota", "q", "--hard=pods=5")
    kubectl("wait", "quota/q", "--for=jsonpath={.status.hard.pods}=5", "--timeout=60s")
    assert "pods: 0/5" in kubectl("get", "quota")
    kubectl("events")
