"""One load process: reads what to do as JSON from its first argument, prints what it saw as JSON.

Run by `measures`; the operations are `create`, `update`, `status`, `list` and `watch`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import uvloop

from benchmarks import http

Json = Any
STRATEGIC = "application/strategic-merge-patch+json"


def pod(name: str) -> Json:
    """A pod of about a kilobyte that no scheduler or agent will touch."""
    env = [{"name": f"VARIABLE_{number}", "value": "some value"} for number in range(6)]
    resources = {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}}
    container = {"name": "main", "image": "registry.example.com/team/application:v1.2.3", "args": ["--run"], "env": env}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "bench", "role": "worker"}, "annotations": {"turn": "000000"}},
        "spec": {
            "schedulingGates": [{"name": "bench.example.com/never"}],
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
            "containers": [{**container, "resources": resources}],
        },
    }


class Load:
    """Counts what one run of an operation did."""

    def __init__(self, spec: Json) -> None:
        self.spec = spec
        self.path = f"/api/v1/namespaces/{spec['namespace']}/pods"
        self.latencies: list[float] = []
        self.errors: list[str] = []
        self.deadline = 0.0
        self.left = spec.get("total", 1 << 60)

    async def open(self, number: int) -> tuple[http.Connection, Any]:
        """A connection, and the requests one client will send over it."""
        connection = await http.connect(self.spec["url"], self.spec["ca"])
        connection.keep = True
        made = b""
        if self.spec["operation"] != "create":
            body = json.dumps(pod(self.name(number))).encode()
            await connection.send(http.request("POST", self.path, self.spec["token"], body))
            made = bytes(connection.body)
        return connection, getattr(self, self.spec["operation"])(number, made)

    async def client(self, connection: http.Connection, requests: Any) -> None:
        for request in requests:
            if time.perf_counter() >= self.deadline or self.left <= 0:
                break
            self.left -= 1
            started = time.perf_counter()
            status = await connection.send(request)
            self.latencies.append(time.perf_counter() - started)
            if status >= 300:
                self.errors.append(f"{status} {bytes(connection.body[:300])!r}")
        connection.close()

    def name(self, client: int) -> str:
        return f"{self.spec['run']}-{client}"

    def create(self, client: int, _: bytes) -> Any:
        template = json.dumps(pod("NAME")).encode()
        for turn in range(1 << 60):
            body = template.replace(b"NAME", f"{self.name(client)}-{turn}".encode(), 1)
            yield http.request("POST", self.path, self.spec["token"], body)

    def update(self, client: int, made: bytes) -> Any:
        whole = json.loads(made)
        # Without a version an update is unconditional, so that one client's answer is not another's conflict.
        del whole["metadata"]["resourceVersion"]
        template = json.dumps(whole).encode()
        for turn in range(1, 1 << 60):
            body = template.replace(b"000000", b"%06d" % turn)
            yield http.request("PUT", f"{self.path}/{self.name(client)}", self.spec["token"], body)

    def status(self, client: int, _: bytes) -> Any:
        path = f"{self.path}/{self.name(client)}/status"
        for turn in range(1, 1 << 60):
            condition = {"type": "Ready", "status": "False", "reason": "Bench", "message": f"turn {turn}"}
            body = json.dumps({"status": {"phase": "Pending", "conditions": [condition]}}).encode()
            yield http.request("PATCH", path, self.spec["token"], body, STRATEGIC)

    async def run(self) -> Json:
        clients = await asyncio.gather(*(self.open(number) for number in range(self.spec["clients"])))
        started = time.perf_counter()
        self.deadline = started + self.spec["seconds"]
        await asyncio.gather(*(self.client(*client) for client in clients))
        took = time.perf_counter() - started
        return {"count": len(self.latencies), "seconds": took, "errors": self.errors[:3], **spread(self.latencies)}


def spread(values: list[float]) -> dict[str, float]:
    ordered = sorted(values) or [0.0]
    return {"p50": ordered[len(ordered) // 2], "p99": ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]}


async def list_all(spec: Json) -> Json:
    """Read the whole collection a few times."""
    connection = await http.connect(spec["url"], spec["ca"])
    times = []
    for _ in range(spec["repeats"]):
        started = time.perf_counter()
        status = await connection.send(http.request("GET", spec["path"], spec["token"]))
        times.append(time.perf_counter() - started)
        assert status == 200, status
    size = connection.size
    connection.close()
    return {"seconds": sorted(times)[len(times) // 2], "bytes": size, "errors": []}


async def watch_delay(spec: Json) -> Json:
    """Write objects one by one under the eyes of many watchers; how long until each has seen each."""
    path = f"/api/v1/namespaces/{spec['namespace']}/configmaps"
    sent: dict[bytes, float] = {}
    delays: list[float] = []

    def seen(data: bytes) -> None:
        now = time.perf_counter()
        at = data.find(b'"name":"' + spec["run"].encode())
        while at >= 0:
            name = data[at + 8 : data.index(b'"', at + 8)]
            if name in sent:
                delays.append(now - sent[name])
            at = data.find(b'"name":"' + spec["run"].encode(), at + 8)

    query = f"{path}?watch=true&resourceVersion=0&timeoutSeconds=300"
    watchers = [await http.connect(spec["url"], spec["ca"], seen) for _ in range(spec["watchers"])]
    open_watches = [asyncio.ensure_future(one.send(http.request("GET", query, spec["token"]))) for one in watchers]
    writer = await http.connect(spec["url"], spec["ca"])
    await asyncio.sleep(1)
    for number in range(spec["writes"]):
        name = f"{spec['run']}-{number}"
        body = json.dumps({"metadata": {"name": name}, "data": {"text": "x" * 500}}).encode()
        sent[name.encode()] = time.perf_counter()
        await writer.send(http.request("POST", path, spec["token"], body))
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    for one, watch in zip(watchers, open_watches, strict=True):
        watch.cancel()
        one.close()
    writer.close()
    missing = spec["watchers"] * spec["writes"] - len(delays)
    return {"errors": [f"{missing} events not seen"] if missing > 0 else [], **spread(delays)}


async def main(spec: Json) -> Json:
    if spec["operation"] == "list":
        return await list_all(spec)
    if spec["operation"] == "watch":
        return await watch_delay(spec)
    return await Load(spec).run()


if __name__ == "__main__":
    print(json.dumps(uvloop.run(main(json.loads(sys.argv[1])))))
