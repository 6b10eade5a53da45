"""Pods as users write them, run by the agent as processes, with either way of keeping them apart."""

from __future__ import annotations

import base64
import time

import pytest

from tests.harness import Cluster
from tests.local.agent.node import Node, container, processes_with

pytestmark = pytest.mark.kube


def state(pod: dict, name: str = "main", kind: str = "containerStatuses") -> dict:
    """The status of one container; before there is one, that of a container nobody has seen."""
    unseen = {"state": {"waiting": {}}, "ready": False, "restartCount": 0}
    return next((each for each in pod["status"].get(kind, []) if each["name"] == name), unseen)


def test_exit_code_message_and_log_of_a_pod_that_fails(node: Node, namespace: str) -> None:
    """What a process printed, said at its end and returned is in the pod's log and status."""
    node.run(
        namespace,
        container(
            "echo out; echo err >&2; echo why > $WHERE; exit 3",
            env=[{"name": "WHERE", "value": "/dev/termination-log"}],
        ),
    )
    pod = node.ended(namespace)
    ended = state(pod)["state"]["terminated"]
    assert (pod["status"]["phase"], ended["exitCode"], ended["reason"]) == ("Failed", 3, "Error")
    assert ended["message"] == "why\n"
    assert sorted(node.log(namespace).splitlines()) == ["err", "out"]
    conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
    assert conditions["PodScheduled"] == conditions["Initialized"] == "True"
    assert conditions["Ready"] == conditions["ContainersReady"] == "False"


def test_environment_is_made_of_every_kind_of_reference(cluster: Cluster, node: Node, namespace: str) -> None:
    """Values, expansions, fields, resources, configMaps and secrets all arrive."""
    cluster.create(
        f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "c"}, "data": {"k": "v", "m": "n"}}
    )
    secret = {"metadata": {"name": "s"}, "data": {"p": base64.b64encode(b"q").decode()}}
    cluster.create(f"/api/v1/namespaces/{namespace}/secrets", secret)
    env = [
        {"name": "A", "value": "one"},
        {"name": "B", "value": "$(A)-$(C)-$$(A)"},
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
        {"name": "K", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
        {"name": "P", "valueFrom": {"secretKeyRef": {"name": "s", "key": "p"}}},
        {"name": "NO", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none", "optional": True}}},
    ]
    source = [{"prefix": "X_", "configMapRef": {"name": "c"}}]
    one = container(
        "echo $A $B $NAME $LABEL $CPU $K $P $X_m ${NO-unset} $KUBERNETES_SERVICE_PORT_HTTPS; echo $IP",
        env=env,
        envFrom=source,
        resources={"limits": {"cpu": "250m"}},
    )
    node.run(namespace, one, metadata={"labels": {"app": "x"}})
    pod = node.ended(namespace)
    first, ip = node.log(namespace).splitlines()
    assert first.rsplit(" ", 1)[0] == "one one-$(C)-$(A) pod x 250 v q n unset"
    assert ip == pod["status"]["podIP"]


def test_volumes_of_every_kind_are_at_their_mount_paths(cluster: Cluster, node: Node, namespace: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Also where the machine has no such folder; with paths in env and args where there is no mount namespace."""
    (tmp_path / "there").write_text("host")
    cluster.create(
        f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "c"}, "data": {"k": "v", "m": "n"}}
    )
    cluster.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "s"}, "stringData": {"p": "q"}})
    volumes = [
        {"name": "empty", "emptyDir": {}},
        {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {
            "name": "config",
            "configMap": {"name": "c", "items": [{"key": "k", "path": "deep/er"}], "defaultMode": 0o400},
        },
        {"name": "secret", "secret": {"secretName": "s"}},
        {"name": "none", "configMap": {"name": "absent", "optional": True}},
        {"name": "down", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"name": "host", "hostPath": {"path": str(tmp_path)}},
        {
            "name": "many",
            "projected": {
                "sources": [
                    {"configMap": {"name": "c"}},
                    {"secret": {"name": "s"}},
                    {"serviceAccountToken": {"path": "token", "expirationSeconds": 600, "audience": "x"}},
                ]
            },
        },
    ]
    paths = {
        "empty": "/data/empty",
        "memory": "/data/memory",
        "config": "/opt/nowhere/conf",
        "secret": "/srv/s",
        "none": "/data/none",
        "down": "/data/down",
        "host": "/data/host",
        "many": "/data/many",
    }
    mounts = [{"name": name, "mountPath": path} for name, path in paths.items()]
    mounts.append({"name": "config", "mountPath": "/data/file", "subPath": "deep/er"})
    script = (
        "echo 1 > /data/empty/x; echo 2 > /data/memory/x; cat /opt/nowhere/conf/deep/er; echo; cat /srv/s/p; echo; "
        "cat /data/down/labels; echo; cat /data/host/there; echo; ls /data/none | wc -l; cat /data/file; echo; "
        "stat -L -c %a /opt/nowhere/conf/deep/er; cat /data/many/k /data/many/p; wc -c < /data/many/token"
    )
    node.run(namespace, container(script, volumeMounts=mounts), volumes=volumes, metadata={"labels": {"a": "b"}})
    node.ended(namespace)
    *lines, last = node.log(namespace).splitlines()
    assert lines == ["v", "q", 'a="b"', "host", "0", "v", "400"]
    assert last.startswith("vq")
    assert int(last[2:]) > 100


def test_init_containers_run_in_order_and_share_volumes(node: Node, namespace: str) -> None:
    """Each init container sees what the one before left; the containers see it all."""
    mount = [{"name": "shared", "mountPath": "/shared"}]
    inits = [container(f"cat /shared/f; echo {n} >> /shared/f", name=f"i{n}", volumeMounts=mount) for n in (1, 2)]
    node.run(
        namespace,
        container("cat /shared/f", volumeMounts=mount),
        initContainers=inits,
        volumes=[{"name": "shared", "emptyDir": {}}],
    )
    pod = node.ended(namespace)
    assert pod["status"]["phase"] == "Succeeded"
    assert node.log(namespace).splitlines() == ["1", "2"]
    assert node.log(namespace, container="i2").splitlines() == ["1"]


def test_a_failing_init_container_fails_the_pod_that_must_not_restart(node: Node, namespace: str) -> None:
    """The containers of such a pod never start."""
    node.run(namespace, container("true"), initContainers=[container("exit 4", name="init")])
    pod = node.ended(namespace)
    assert pod["status"]["phase"] == "Failed"
    assert state(pod, "init", "initContainerStatuses")["state"]["terminated"]["exitCode"] == 4
    assert "waiting" in state(pod)["state"]


def test_sidecars_run_beside_and_end_after_the_containers(node: Node, namespace: str) -> None:
    """A sidecar is started first, outlives the containers, and does not keep the pod from succeeding."""
    sidecar = container(
        "echo up; trap 'echo down; exit 0' TERM; sleep 1000 & wait", name="side", restartPolicy="Always"
    )
    node.run(namespace, container("sleep 0.3; echo done"), initContainers=[sidecar])
    pod = node.ended(namespace)
    assert pod["status"]["phase"] == "Succeeded"
    assert node.log(namespace, container="side").splitlines() == ["up", "down"]


def test_a_container_that_crashes_is_restarted_with_back_off(node: Node, namespace: str) -> None:
    """Restarts are counted, the last end is told, and the previous log can be read."""
    node.run(namespace, container("echo run; exit 1"), restartPolicy="Always")
    pod = node.until(namespace, lambda pod: state(pod)["restartCount"] >= 2 and "waiting" in state(pod)["state"])
    assert state(pod)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert state(pod)["lastState"]["terminated"]["exitCode"] == 1
    assert pod["status"]["phase"] == "Running"
    assert node.log(namespace, previous="true") == "run\n"


def test_a_missing_config_map_holds_the_pod_until_it_appears(cluster: Cluster, node: Node, namespace: str) -> None:
    """A driver's configMap comes a moment after the driver: the pod waits and starts at once."""
    node.run(
        namespace,
        container("cat /c/k", volumeMounts=[{"name": "c", "mountPath": "/c"}]),
        volumes=[{"name": "c", "configMap": {"name": "late"}}],
    )
    waits = node.until(namespace, lambda pod: "message" in state(pod)["state"]["waiting"])
    assert waits["status"]["phase"] == "Pending"
    assert 'configmap "late" not found' in state(waits)["state"]["waiting"]["message"]
    began = time.monotonic()
    cluster.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "late"}, "data": {"k": "v"}})
    assert node.ended(namespace)["status"]["phase"] == "Succeeded"
    assert time.monotonic() - began < 5
    assert node.log(namespace) == "v"


def test_an_unknown_image_waits_and_says_what_to_do(node: Node, namespace: str) -> None:
    """And starts once the catalogue knows it."""
    node.run(namespace, container("echo ran", image="registry.example/team/tool:7"))
    pod = node.until(namespace, lambda pod: pod["status"].get("containerStatuses"))
    waiting = state(pod)["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert "images.yaml" in waiting["message"]
    (node.data / "images.yaml").write_text("images: {tool: {match: ['team/tool'], env: {X: y}}}")
    assert node.ended(namespace)["status"]["phase"] == "Succeeded"


def test_deletion_gives_the_grace_period_and_leaves_no_process(node: Node, namespace: str) -> None:
    """A process that ignores SIGTERM, and one that left its session, are killed when the period is over."""
    marker = f"{time.time_ns() % 10**9 + 10**9}"
    node.run(namespace, container(f"trap '' TERM; setsid sleep {marker} & echo up; sleep {marker}"))
    node.running(namespace)
    node.eventually(lambda: len(processes_with(marker)) >= 3, what="processes run")
    began = time.monotonic()
    node.delete(namespace, "pod", grace_s=2)
    node.gone(namespace)
    assert 1.5 < time.monotonic() - began < 6
    assert processes_with(marker) == []


def test_pre_stop_runs_before_the_signal_and_post_start_after_the_start(node: Node, namespace: str) -> None:
    """Hooks run inside the container."""
    script = "touch /h/up; trap 'cat /h/*; exit 0' TERM; while true; do sleep 0.1; done"
    hooks = {
        "postStart": {"exec": {"command": ["sh", "-c", "echo post >> /h/post"]}},
        "preStop": {"exec": {"command": ["sh", "-c", "echo pre >> /h/pre"]}},
    }
    if node.isolation == "loopback":
        pytest.skip("hooks name paths of the mount namespace")
    node.run(
        namespace,
        container(script, lifecycle=hooks, volumeMounts=[{"name": "h", "mountPath": "/h"}]),
        volumes=[{"name": "h", "emptyDir": {}}],
        metadata={"finalizers": ["tests.example/look"]},
    )
    node.until(namespace, lambda pod: pod["status"]["phase"] == "Running" and state(pod)["ready"])
    try:
        node.delete(namespace, "pod")
        node.ended(namespace)
        assert node.log(namespace).splitlines() == ["post", "pre"]
    finally:
        free = b'{"metadata":{"finalizers":null}}'
        path = f"/api/v1/namespaces/{namespace}/pods/pod"
        node.cluster.http("PATCH", path, free, {"Content-Type": "application/merge-patch+json"})


def test_active_deadline_ends_the_pod(node: Node, namespace: str) -> None:
    """With its reason."""
    node.run(namespace, container("sleep 1000"), activeDeadlineSeconds=1)
    pod = node.ended(namespace)
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "DeadlineExceeded")


def test_a_command_that_does_not_exist_is_a_start_error(node: Node, namespace: str) -> None:
    """The message names the program."""
    node.run(namespace, {"name": "main", "image": "host", "command": ["no-such-program"]})
    ended = state(node.ended(namespace))["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("StartError", 128)
    assert "no-such-program" in ended["message"]


def test_readiness_and_liveness_probes(node: Node, namespace: str) -> None:
    """A container is ready when its probe says so, and restarted when it is no longer alive."""
    ready = {"exec": {"command": ["sh", "-c", "exit 0"]}, "periodSeconds": 1, "initialDelaySeconds": 1}
    dead = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1, "initialDelaySeconds": 2}
    node.run(
        namespace,
        container("sleep 1000", readinessProbe=ready, livenessProbe=dead),
        restartPolicy="Always",
        terminationGracePeriodSeconds=1,
    )
    pod = node.running(namespace)
    assert not state(pod)["ready"]
    node.until(namespace, lambda pod: state(pod)["ready"])
    node.until(namespace, lambda pod: state(pod)["restartCount"] >= 1)


def test_http_and_tcp_probes_reach_the_pod_at_its_own_address(node: Node, namespace: str) -> None:
    """Two pods serve the same port, each at its own address."""
    serve = container(
        "exec python3 -m http.server 8099 --bind $IP",
        image="python",
        env=[{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        ports=[{"name": "web", "containerPort": 8099}],
        startupProbe={"tcpSocket": {"port": 8099}, "periodSeconds": 1, "failureThreshold": 30},
        readinessProbe={"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 1},
    )
    for name in ("one", "two"):
        node.run(namespace, serve, name=name)
    for name in ("one", "two"):
        node.until(namespace, lambda pod: state(pod)["ready"], name)


def test_a_pod_that_does_not_fit_says_how_much_is_missing(node: Node, namespace: str) -> None:
    """And is bound when there is room."""
    node.run(namespace, container("true", resources={"requests": {"cpu": "1000"}}))
    pod = node.until(namespace, lambda pod: pod["status"].get("conditions"))
    condition = pod["status"]["conditions"][0]
    assert (condition["type"], condition["reason"]) == ("PodScheduled", "Unschedulable")
    assert "Insufficient cpu (asks for 1k" in condition["message"] or "asks for 1000" in condition["message"]


def test_termination_message_falls_back_to_the_log(node: Node, namespace: str) -> None:
    """When it is asked for and the container failed."""
    node.run(namespace, container("echo the end; exit 1", terminationMessagePolicy="FallbackToLogsOnError"))
    assert state(node.ended(namespace))["state"]["terminated"]["message"] == "the end\n"
