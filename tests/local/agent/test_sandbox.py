"""What a pod sees, piece by piece: images, environment, volumes, rewritten paths, names, addresses."""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.local.agent.cgroups import limits_of
from tidegate.local.agent.machine import Devices, allocatable
from tidegate.local.agent.sandbox import names, network
from tidegate.local.agent.sandbox.environment import Place, environment_of, expanded, service_variables
from tidegate.local.agent.sandbox.images import Catalogue, argv_of
from tidegate.local.agent.sandbox.problems import Missing, Unrunnable
from tidegate.local.agent.sandbox.rewriting import rewriter
from tidegate.local.agent.sandbox.volumes import fill, mounts_of, replace_files


class Objects:
    """ConfigMaps and secrets that are there."""

    def __init__(self, **config_maps: dict[str, str]) -> None:
        self.config_maps = config_maps

    async def config_map(self, namespace: str, name: str) -> dict[str, Any]:
        if name not in self.config_maps:
            raise Missing("CreateContainerConfigError", "ConfigMap", namespace, name)
        return {"data": self.config_maps[name]}

    async def secret(self, namespace: str, name: str) -> dict[str, Any]:
        raise Missing("CreateContainerConfigError", "Secret", namespace, name)


class Tokens:
    async def token(self, pod: Any, audience: str, lifetime_s: int) -> str:
        return f"token for {audience}"


def place(**spec: Any) -> Place:
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {"containers": [], **spec}}
    return Place(pod, "10.0.0.9", "127.0.0.1", "node", {"cpu": "4", "memory": "8Gi"})


@pytest.mark.parametrize(
    "image", ["python", "python:3.12-slim", "docker.io/library/python:3", "registry.example:5000/python@sha256:0a"]
)
def test_an_image_is_known_under_all_forms_of_its_name(image: str, tmp_path: Path) -> None:
    assert Catalogue(tmp_path / "images.yaml").find(image).name == "python"


def test_an_unknown_image_says_where_to_add_it(tmp_path: Path) -> None:
    with pytest.raises(Unrunnable, match=r"images\.yaml") as problem:
        Catalogue(tmp_path / "images.yaml").find("nginx:1")
    assert problem.value.reason == "ImagePullBackOff"


def test_the_users_entries_come_first_and_are_read_again_when_they_change(tmp_path: Path) -> None:
    file = tmp_path / "images.yaml"
    catalogue = Catalogue(file)
    file.write_text("images: {mine: {match: ['python*'], wrap: [nice], env: {A: '{python}'}}}")
    found = catalogue.find("python:3")
    assert (found.name, found.env["A"]) == ("mine", sys.executable)
    assert argv_of(found, {"command": ["x"], "args": ["y"]}, {}) == ["nice", "x", "y"]
    file.unlink()
    assert catalogue.find("python:3").name == "python"


def test_a_wrong_catalogue_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "images.yaml"
    file.write_text("images: {mine: {comand: [x]}}")
    with pytest.raises(Unrunnable, match="comand"):
        Catalogue(file).find("mine")


def test_spark_pods_run_what_their_entry_point_would(tmp_path: Path) -> None:
    """Executors become a JVM with their options in numeric order; drivers a spark-submit in client mode."""
    spark = Catalogue(tmp_path / "images.yaml").find("apache/spark:4.3.0")
    env = {"JAVA_HOME": "/j", "SPARK_HOME": "/s", "SPARK_JAVA_OPT_10": "-Dten", "SPARK_JAVA_OPT_2": "-Dtwo"}
    env |= {"SPARK_EXECUTOR_MEMORY": "512m", "SPARK_EXECUTOR_ID": "7", "SPARK_CONF_DIR": "/opt/spark/conf"}
    argv = argv_of(spark, {"args": ["executor"]}, env)
    assert argv[:5] == ["/j/bin/java", "-Dtwo", "-Dten", "-Xms512m", "-Xmx512m"]
    assert argv[argv.index("-cp") + 1] == "/opt/spark/conf:/s/jars/*:."
    assert argv[argv.index("--executor-id") + 1] == "7"
    driver = {
        "args": ["driver", "--class", "X"],
        "volumeMounts": [{"name": "t", "mountPath": "/opt/spark/pod-template"}],
    }
    argv = argv_of(spark, driver, env | {"SPARK_DRIVER_BIND_ADDRESS": "10.1.1.1"})
    assert argv[0] == "/s/bin/spark-submit"
    assert argv[-4:] == ["--deploy-mode", "client", "--class", "X"]
    assert any("podTemplateFile" in each for each in argv)
    assert not any("oauthTokenFile" in each for each in argv)
    assert spark.hooks == {"/opt/decom.sh": "SIGPWR"}


def test_an_image_without_a_command_needs_one(tmp_path: Path) -> None:
    with pytest.raises(Unrunnable, match="no command"):
        argv_of(Catalogue(tmp_path / "images.yaml").find("host"), {}, {})


def test_expansion_follows_kubernetes_rules() -> None:
    known = {"A": "1", "B": "2"}
    assert expanded("$(A)-$(B)-$(C)-$$(A)-$A", known) == "1-2-$(C)-$(A)-$A"


async def test_environment_sources_override_each_other_in_order() -> None:
    """The image's, services', envFrom, env; and each variable can use those before it."""
    container = {
        "envFrom": [{"configMapRef": {"name": "c"}}],
        "env": [{"name": "D", "value": "$(A)$(B)$(C)"}, {"name": "C", "value": "4"}],
    }
    env = await environment_of(
        container, place(), Objects(c={"B": "2", "C": "3"}), base={"A": "0", "B": "0"}, services={"A": "1"}
    )
    assert env == {"A": "1", "B": "2", "C": "4", "D": "123"}


async def test_a_missing_key_is_an_error_unless_it_is_optional() -> None:
    reference = {"name": "c", "key": "none"}
    wanted = {"env": [{"name": "X", "valueFrom": {"configMapKeyRef": reference}}]}
    with pytest.raises(Unrunnable, match="couldn't find key none"):
        await environment_of(wanted, place(), Objects(c={}), base={}, services={})
    optional = {"env": [{"name": "X", "valueFrom": {"configMapKeyRef": {**reference, "optional": True}}}]}
    assert await environment_of(optional, place(), Objects(c={}), base={}, services={}) == {}


def test_service_variables_are_those_of_docker_links() -> None:
    spec = {"clusterIP": "10.0.0.5", "ports": [{"name": "web", "port": 80, "protocol": "TCP"}]}
    env = service_variables([{"metadata": {"name": "my-svc", "namespace": "n"}, "spec": spec}], "n", api=("k", 443))
    assert env["MY_SVC_SERVICE_HOST"] == "10.0.0.5"
    assert env["MY_SVC_SERVICE_PORT_WEB"] == "80"
    assert env["MY_SVC_PORT_80_TCP"] == "tcp://10.0.0.5:80"
    assert (env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT_HTTPS"]) == ("k", "443")


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from(["a", "b", "c/d", "c/e"]), st.binary(max_size=5), max_size=4), st.data())
def test_a_volume_shows_the_new_files_all_at_once(files: dict[str, bytes], data: st.DataObject) -> None:
    """Whatever was there before, exactly the new files are there after, reached through one link."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "v"
        names_of = st.sampled_from(["a", "b", "c/d", "x"])
        before = data.draw(st.dictionaries(names_of, st.binary(max_size=5), max_size=3))
        replace_files(target, {path: (content, 0o644) for path, content in before.items()})
        replace_files(target, {path: (content, 0o640) for path, content in files.items()})
        visible = {
            str(file.relative_to(target)): file.read_bytes()
            for entry in target.iterdir()
            if not entry.name.startswith("..")
            for file in ([entry] if entry.is_file() else entry.rglob("*"))
            if file.is_file()
        }
        assert visible == files
        assert len([entry for entry in target.iterdir() if entry.name.startswith("..")]) == 2


async def test_optional_volumes_may_be_missing_and_others_may_not(tmp_path: Path) -> None:
    optional = [{"name": "v", "configMap": {"name": "none", "optional": True}}]
    await fill(place(volumes=optional), tmp_path, Objects(), Tokens())
    assert (tmp_path / "v").is_dir()
    with pytest.raises(Missing, match="none"):
        await fill(place(volumes=[{"name": "w", "configMap": {"name": "none"}}]), tmp_path, Objects(), Tokens())


async def test_a_volume_kind_that_cannot_be_mounted_says_which_can(tmp_path: Path) -> None:
    with pytest.raises(Unrunnable, match="Use emptyDir"):
        await fill(place(volumes=[{"name": "v", "nfs": {}}]), tmp_path, Objects(), Tokens())


def test_a_sub_path_must_stay_inside_its_volume(tmp_path: Path) -> None:
    pod = place(volumes=[{"name": "v", "emptyDir": {}}]).pod
    mount = {"name": "v", "mountPath": "/m", "subPath": "../../etc"}
    with pytest.raises(Unrunnable, match="leads out"):
        mounts_of({"volumeMounts": [mount]}, pod, tmp_path, {})


def test_mount_paths_are_rewritten_on_path_borders_only() -> None:
    rewrite = rewriter([{"target": "/data", "source": "/s/1"}, {"target": "/data/in", "source": "/s/2"}])
    assert rewrite("cat /data/x /data/in/y --f=/data:/data/in /database my/data") == (
        "cat /s/1/x /s/2/y --f=/s/1:/s/2 /database my/data"
    )


def _pod(name: str, ip: str, *, ready: bool = True, **spec: Any) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    meta = {"name": name, "namespace": "n", "labels": {"app": "x"}}
    return {"metadata": meta, "spec": spec, "status": {"podIP": ip, "conditions": conditions}}


def test_service_names_resolve_in_every_form() -> None:
    """Headless services to their pods, before they are ready if they say so; hostnames below them too."""
    pods = (_pod("a", "10.1.0.2", ready=False, hostname="h", subdomain="svc"), _pod("b", "10.1.0.3"))
    headless = {"clusterIP": "None", "selector": {"app": "x"}, "publishNotReadyAddresses": True}
    service = {"metadata": {"name": "svc", "namespace": "n"}, "spec": headless}
    known = names.Names(pods, (service,), "10.1.0.1")
    text = names.hosts_file(_pod("me", "10.1.0.9"), "10.1.0.9", known)
    assert "10.1.0.2\tsvc.n.svc.cluster.local svc.n.svc svc.n svc\n" in text
    assert "10.1.0.3\tsvc.n.svc.cluster.local svc.n.svc svc.n svc\n" in text
    assert "10.1.0.2\th.svc.n.svc.cluster.local h.svc.n.svc h.svc.n h.svc\n" in text
    assert "10.1.0.1\tkubernetes.default.svc.cluster.local kubernetes.default.svc kubernetes.default\n" in text
    assert "10.1.0.9\tme\n" in text


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 8), max_size=40))
def test_no_address_is_given_out_twice(story: list[int]) -> None:
    """Pods come and go in any order; each has one address, and no two have the same."""
    addresses = network.Addresses(ipaddress.IPv4Network("10.9.0.0/28"))
    held: dict[str, str] = {}
    for each in story:
        uid = str(each)
        if uid in held:
            addresses.release(uid)
            del held[uid]
        else:
            held[uid] = addresses.take(uid)
            assert addresses.take(uid) == held[uid]
        assert len(set(held.values())) == len(held)
        assert not {addresses.gateway, "10.9.0.0", "10.9.0.15"} & set(held.values())


def test_a_default_range_avoids_the_machines_own_addresses() -> None:
    chosen = network.default_range("seed", namespaces=True, used=[])
    taken = str(chosen.network_address + 7)
    other = network.default_range("seed", namespaces=True, used=[taken])
    assert ipaddress.IPv4Address(taken) not in other
    assert network.default_range("seed", namespaces=False, used=[]).is_loopback


def test_devices_are_handed_out_once_and_remembered(tmp_path: Path) -> None:
    wants = {"name": "m", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    devices = Devices(("0", "1"))
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
    assert devices.take("a", wants, first) == ("0",)
    assert devices.take("a", wants, first) == ("0",)
    assert devices.take("x", {"name": "m"}, first) is None
    later = Devices(("0", "1"))
    later.keep("a", first)
    assert later.take("b", wants, second) == ("1",)
    with pytest.raises(OSError, match="0 are free"):
        later.take("c", wants, second)
    later.release("a")
    assert later.take("c", wants, second) == ("0",)


def test_limits_become_cgroup_files() -> None:
    resources = {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "250m"}}
    expected = {"cpu.max": "150000 100000", "memory.max": str(2**30), "memory.oom.group": "1", "cpu.weight": "25"}
    assert limits_of({"resources": resources}) == expected
    assert limits_of({}) == {}


def test_what_is_reserved_is_not_allocatable() -> None:
    whole = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    assert allocatable(whole, {"cpu": "500m", "memory": "1Gi"}) == {"cpu": "3500m", "memory": "7Gi", "pods": "110"}
