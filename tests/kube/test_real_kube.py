"""The client and all that stands on it, against the real kube-apiserver."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from tests.harness.cluster import PATIENCE_S
from tests.harness.realkube import ADMIN_TOKEN, RealKube, missing_programs
from tests.kube.following import Witness, quick
from tests.kube.relay import Relay
from tidegate.kube.access import Access, Trust
from tidegate.kube.client import Client, StatusError
from tidegate.kube.config import load_access
from tidegate.kube.connect import connect
from tidegate.kube.credentials import Fixed
from tidegate.kube.discovery import find_resource, served_resources
from tidegate.kube.events import EventRecorder
from tidegate.kube.informer import Informer
from tidegate.kube.leases import LeaderElection, LeadershipLost, Terms
from tidegate.kube.metadata import Meta
from tidegate.kube.resources import CONFIGMAPS, CRDS, DEPLOYMENTS, EVENTS, LEASES, NAMESPACES, PODS, SELFSUBJECTREVIEWS
from tidegate.kube.wire import Object, Resource

pytestmark = pytest.mark.kube


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealKube]:
    """A server that also takes client certificates of its own authority."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    folder = tmp_path_factory.mktemp("kube")
    flags = [f"--client-ca-file={folder / 'ca.crt'}"]
    kube = RealKube(controllers=False, folder=folder, apiserver_flags=flags)
    with kube:
        yield kube


@pytest.fixture
async def client(kube: RealKube) -> AsyncIterator[Client]:
    client = connect(kubeconfig=kube.cluster.kubeconfig)
    yield client
    await client.close()


@pytest.fixture
async def namespace(client: Client) -> str:
    name = f"test-{uuid.uuid4().hex[:8]}"
    await client.create(NAMESPACES, {"metadata": {"name": name}})
    return name


def config_map(namespace: str, name: str, **data: str) -> Object:
    return {"metadata": {"namespace": namespace, "name": name}, "data": data}


async def refused(call: Any) -> tuple[int, str]:
    with pytest.raises(StatusError) as error:
        await call
    return error.value.code, error.value.reason


async def test_objects_are_written_and_read(client: Client, namespace: str) -> None:
    made = await client.create(CONFIGMAPS, config_map(namespace, "a", x="1"))
    assert await client.get(CONFIGMAPS, "a", namespace) == made
    changed = await client.update(CONFIGMAPS, {**made, "data": {"x": "2"}})
    assert await refused(client.update(CONFIGMAPS, made)) == (409, "Conflict")
    assert await refused(client.create(CONFIGMAPS, made | {"metadata": {"name": "a"}}, namespace)) == (
        409,
        "AlreadyExists",
    )
    merged = await client.patch(CONFIGMAPS, "a", {"data": {"y": "1"}}, namespace)
    assert merged["data"] == {"x": "2", "y": "1"}
    json_patch = [{"op": "remove", "path": "/data/y"}]
    assert (await client.patch(CONFIGMAPS, "a", json_patch, namespace, type="json"))["data"] == {"x": "2"}
    strategic = {"metadata": {"finalizers": ["example.com/a"]}}
    held = await client.patch(CONFIGMAPS, "a", strategic, namespace, type="strategic")
    assert held["metadata"]["finalizers"] == ["example.com/a"]
    assert await refused(client.delete(CONFIGMAPS, "a", namespace, uid="another")) == (409, "Conflict")
    await client.delete(CONFIGMAPS, "a", namespace, uid=changed["metadata"]["uid"])
    assert "deletionTimestamp" in (await client.get(CONFIGMAPS, "a", namespace))["metadata"]
    await client.patch(CONFIGMAPS, "a", {"metadata": {"finalizers": None}}, namespace)
    assert await refused(client.get(CONFIGMAPS, "a", namespace)) == (404, "NotFound")


async def test_appliers_conflict_unless_forced(client: Client, namespace: str) -> None:
    await client.apply(CONFIGMAPS, config_map(namespace, "a", x="1"), field_manager="one")
    other = config_map(namespace, "a", x="2")
    assert await refused(client.apply(CONFIGMAPS, other, field_manager="two")) == (409, "Conflict")
    assert (await client.apply(CONFIGMAPS, other, field_manager="two", force=True))["data"] == {"x": "2"}


async def test_lists_come_in_pages_and_collections_go_at_once(client: Client, namespace: str) -> None:
    for n in range(7):
        labels = {"labels": {"odd": str(n % 2)}, "name": f"n{n}", "namespace": namespace}
        await client.create(CONFIGMAPS, {"metadata": labels}, dry_run=n == 6)
    page = await client.list(CONFIGMAPS, namespace, limit=4)
    rest = await client.list(CONFIGMAPS, namespace, limit=4, proceed=page.proceed)
    assert [obj["metadata"]["name"] for obj in page.items + rest.items] == [f"n{n}" for n in range(6)]
    await client.delete_collection(CONFIGMAPS, namespace, labels="odd=1")
    left = await client.list(CONFIGMAPS, namespace, fields="metadata.name!=n0")
    assert [obj["metadata"]["name"] for obj in left.items] == ["n2", "n4"]


async def test_a_version_that_is_too_old_is_gone(client: Client) -> None:
    """The server remembers nothing of a kind from before the kind was there."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    names = {"plural": "tides", "kind": "Tide"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await client.create(CRDS, {"metadata": {"name": "tides.example.com"}, "spec": spec})
    async with asyncio.timeout(60):
        async for event in client.watch(CRDS, fields="metadata.name=tides.example.com"):
            # A bookmark tells only the time; a slow server sends one before it is done.
            conditions = (event.object or {}).get("status", {}).get("conditions", [])
            if any(one["type"] == "Established" and one["status"] == "True" for one in conditions):
                break
        tides: Resource[Object] = Resource("example.com", "v1", "tides", "Tide")
        await is_served(client, tides)
        assert await refused(anext(client.watch(tides, resource_version="1"))) == (410, "Expired")


async def is_served(client: Client, resource: Resource[Object]) -> None:
    """A new kind is established a moment before it is served."""
    while True:
        try:
            await client.list(resource)
            return
        except StatusError:
            await asyncio.sleep(0.05)


async def test_words_find_resources(client: Client) -> None:
    assert await find_resource(client, "deploy") == DEPLOYMENTS
    assert await find_resource(client, "Pod") == PODS
    assert await find_resource(client, "leases.coordination.k8s.io") == LEASES
    assert len(await served_resources(client)) > 50


async def whoami(access: Access) -> str:
    client = connect(access)
    try:
        review = await client.create(SELFSUBJECTREVIEWS, {"metadata": {}})
        return str(review["status"]["userInfo"]["username"])
    finally:
        await client.close()


def variant(kube: RealKube, user: dict[str, Any]) -> Access:
    config = yaml.safe_load(kube.cluster.kubeconfig.read_text())
    config["users"][0]["user"] = user
    path = kube.folder / f"{uuid.uuid4().hex}.yaml"
    path.write_text(yaml.safe_dump(config))
    return load_access(path)


async def test_a_token_a_token_file_and_a_certificate_say_who_we_are(kube: RealKube) -> None:
    (kube.folder / "token").write_text(ADMIN_TOKEN)
    assert await whoami(variant(kube, {"token": ADMIN_TOKEN})) == "admin"
    assert await whoami(variant(kube, {"tokenFile": "token"})) == "admin"
    assert await whoami(variant(kube, {"client-certificate": "tls.crt", "client-key": "tls.key"})) == "localhost"
    assert await whoami(variant(kube, {"token": ADMIN_TOKEN, "as": "jane", "as-groups": ["a", "b"]})) == "jane"
    with pytest.raises(StatusError, match="Unauthorized"):
        await whoami(variant(kube, {"token": "nobody's"}))


@pytest.mark.parametrize("kind", ["token", "certificate"])
async def test_a_credential_program_says_who_we_are(kube: RealKube, kind: str) -> None:
    """The first token it gives is refused, so it is run again."""
    status = {
        "token": {"token": ADMIN_TOKEN},
        "certificate": {
            "clientCertificateData": (kube.folder / "tls.crt").read_text(),
            "clientKeyData": (kube.folder / "tls.key").read_text(),
        },
    }[kind]
    version = "client.authentication.k8s.io/v1"
    good = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    bad = json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": {"token": "old"}})
    program = kube.folder / f"program-{kind}"
    marker = Path(f"{program}.ran")
    program.write_text(
        f"#!{sys.executable}\nimport pathlib\nmarker = pathlib.Path({str(marker)!r})\n"
        f"print({good!r} if marker.exists() else {bad!r})\nmarker.touch()\n"
    )
    program.chmod(0o700)
    access = variant(
        kube, {"exec": {"apiVersion": version, "command": f"./{program.name}", "interactiveMode": "Never"}}
    )
    client = connect(access)
    await access.credentials.authorization()
    access.credentials._obtained.at -= 10  # type: ignore[attr-defined]
    review = await client.create(SELFSUBJECTREVIEWS, {"metadata": {}})
    await client.close()
    assert review["status"]["userInfo"]["username"] == {"token": "admin", "certificate": "localhost"}[kind]


@asynccontextmanager
async def following(client: Client, namespace: str, **options: Any) -> AsyncIterator[tuple[Informer[Object], Witness]]:
    informer = Informer(client, CONFIGMAPS, namespace, **{"backoff": quick(), **options})
    witness = Witness()
    informer.on_change(witness)
    task = asyncio.create_task(informer.run())
    try:
        async with asyncio.timeout(30):
            await informer.synced()
        yield informer, witness
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not witness.faults


@pytest.mark.parametrize("watch_list", [True, False])
async def test_an_informer_ends_as_the_server_though_its_connections_are_cut(
    kube: RealKube, client: Client, namespace: str, watch_list: bool
) -> None:
    """Random writes while a relay between the informer and the server aborts connections at random."""
    rng = random.Random(7)
    async with Relay(kube.cluster.url) as relay:
        access = Access(relay.url, Fixed.token(ADMIN_TOKEN), Trust(kube.cluster.ca_file.read_text()))
        fragile = connect(access)
        async with following(fragile, namespace, watch_list=watch_list) as (_, witness):
            alive: set[str] = set()
            for n in range(150):
                await change(client, namespace, f"n{rng.randrange(8)}", alive, rng)
                if n % 10 == 0:
                    relay.cut()
            await client.create(CONFIGMAPS, config_map(namespace, "last"))
            truth = {obj["metadata"]["name"]: obj for obj in (await client.list(CONFIGMAPS, namespace)).items}
            await witness.until(lambda: {name: obj for (_, name), obj in witness.held.items()} == truth)
        await fragile.close()
    assert relay.cuts >= 10


async def change(client: Client, namespace: str, name: str, alive: set[str], rng: random.Random) -> None:
    if name not in alive:
        await client.create(CONFIGMAPS, config_map(namespace, name))
        alive.add(name)
    elif rng.random() < 0.5:
        await client.delete(CONFIGMAPS, name, namespace)
        alive.discard(name)
    else:
        await client.patch(CONFIGMAPS, name, {"data": {"x": str(rng.random())}}, namespace)


async def test_another_server_at_the_same_address_is_found_out(client: Client, kube: RealKube, namespace: str) -> None:
    """As after a lost disk: its versions are behind ours, and of a watch from the future it says nothing at all."""
    made = await client.create(CONFIGMAPS, config_map(namespace, "before"))
    while int(made["metadata"]["resourceVersion"]) < 2000:
        wishes = ({"data": {"x": uuid.uuid4().hex}} for _ in range(50))
        await asyncio.gather(*(client.patch(CONFIGMAPS, "before", wish, namespace) for wish in wishes))
        made = await client.get(CONFIGMAPS, "before", namespace)
    with RealKube(controllers=False) as successor:
        async with Relay(kube.cluster.url) as relay:
            fragile = connect(Access(relay.url, Fixed.token(ADMIN_TOKEN), Trust(verify=False)))
            fresh = connect(kubeconfig=successor.kubeconfig)
            await fresh.create(NAMESPACES, {"metadata": {"name": namespace}})
            await fresh.create(CONFIGMAPS, config_map(namespace, "after"))
            async with following(fragile, namespace) as (_, witness):
                relay.point_to(successor.url)
                relay.cut()
                await witness.until(lambda: {name for _, name in witness.held} == {"after"})
                assert [what for what, _, _ in witness.told] == ["appeared", "gone", "appeared"]
            await fragile.close()
            await fresh.close()


async def test_an_informer_needs_no_list_where_the_server_has_watch_list(client: Client, namespace: str) -> None:
    await client.create(CONFIGMAPS, config_map(namespace, "a"))
    async with following(client, namespace, initial_idle_s=20.0) as (informer, witness):
        assert informer._follow.watch_list
        assert [name for _, name in witness.held] == ["a"]


async def test_one_candidate_leads_at_a_time(client: Client, namespace: str) -> None:
    terms = Terms(duration_s=15, renew_within_s=10, retry_s=0.1)
    elections = [LeaderElection(client, "lock", namespace, name, terms=terms) for name in ("one", "two", "three")]
    leads: list[str] = []

    async def stand(election: LeaderElection) -> None:
        async def lead() -> None:
            assert [one.is_leader for one in elections].count(True) == 1
            leads.append(election._identity)
            await asyncio.sleep(0.3)

        await election.run(lead)

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(stand(election) for election in elections))
    assert sorted(leads) == ["one", "three", "two"]
    spec = (await client.get(LEASES, "lock", namespace))["spec"]
    assert (spec["leaseTransitions"], spec.get("holderIdentity", "")) == (2, "")


async def test_a_stolen_lease_is_lost(client: Client, namespace: str) -> None:
    election = LeaderElection(client, "lock", namespace, "one", terms=Terms(3, 2.0, 0.1))
    leads = asyncio.Event()

    async def lead() -> None:
        leads.set()
        await asyncio.sleep(3600)

    task = asyncio.create_task(election.run(lead))
    await asyncio.wait_for(leads.wait(), PATIENCE_S)
    await client.patch(LEASES, "lock", {"spec": {"holderIdentity": "usurper"}}, namespace)
    with pytest.raises(LeadershipLost):
        await asyncio.wait_for(task, PATIENCE_S)


async def test_the_server_takes_our_events(client: Client, namespace: str) -> None:
    made = await client.create(CONFIGMAPS, config_map(namespace, "a"))
    recorder = EventRecorder(client, "tester")
    for _ in range(3):
        recorder.record(CONFIGMAPS, made, "Waits", "No room.")
    await recorder.flush()
    recorder.record(CONFIGMAPS, made, "Waits", "No room.")
    await recorder.flush()
    (event,) = (await client.list(EVENTS, namespace, fields="involvedObject.name=a")).items
    assert (event["count"], event["involvedObject"]["uid"]) == (4, made["metadata"]["uid"])


class Strict(msgspec.Struct):
    metadata: Meta
    data: dict[str, str]


async def test_a_typed_informer_reads_what_the_real_server_sends(client: Client, namespace: str) -> None:
    """Bookmarks of the real server have half-filled objects that no type of ours need fit."""
    await client.create(CONFIGMAPS, config_map(namespace, "a", x="1"))
    informer = Informer(client, replace(CONFIGMAPS, type=Strict), namespace)
    task = asyncio.create_task(informer.run())
    await asyncio.wait_for(informer.synced(), PATIENCE_S)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [obj.data for obj in informer.all()] == [{"x": "1"}]
