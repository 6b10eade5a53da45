"""Runs Kubernetes' own API machinery conformance tests on a real control plane and on the embedded one, side by side.

    python tools/run_conformance.py                       # both servers, all 74 tests
    python tools/run_conformance.py --server embedded --focus 'ResourceQuota'

The only node is a bare Node object, so the few tests that need a pod to run fail on both. Results go to
`build/conformance/` as JSON and as a Markdown table; the exit status is 1 if the embedded server fails a test that the
real one passes.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.harness import Cluster, Embedded, RealKube  # noqa: E402
from tools.build_kube import assets, missing  # noqa: E402

FOCUS = r"\[sig-api-machinery\].*\[Conformance\]"
SKIP = "AdmissionWebhook|Aggregator|CustomResourceConversionWebhook"
READY = {"type": "Ready", "status": "True", "reason": "Bare", "message": "no kubelet"}
NODE: dict[str, Any] = {
    "metadata": {"name": "bare", "labels": {"kubernetes.io/hostname": "bare", "kubernetes.io/os": "linux"}},
    "status": {
        "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"},
        "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"},
        "conditions": [READY],
    },
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one test ended on one server."""

    state: str
    seconds: float
    message: str = ""


def e2e(cluster: Cluster, *flags: str, report: Path, log: Path, timeout_s: float) -> list[dict[str, Any]]:
    """Run e2e.test with `flags`; the reports of the tests it ran."""
    command = [
        str(assets() / "e2e.test"),
        f"--kubeconfig={cluster.kubeconfig}",
        "--provider=skeleton",
        "--allowed-not-ready-nodes=-1",
        "--ginkgo.no-color",
        f"--ginkgo.json-report={report}",
        f"--ginkgo.timeout={int(timeout_s)}s",
        *flags,
    ]
    with log.open("wb") as out, contextlib.suppress(subprocess.TimeoutExpired):
        # Ginkgo ends itself at its own timeout and still writes its report; this one is for when it cannot.
        subprocess.run(command, stdout=out, stderr=out, check=False, cwd=report.parent, timeout=timeout_s + 120)
    if not report.exists():
        return []
    suites = json.loads(report.read_text())
    return [spec for suite in suites for spec in suite["SpecReports"] if spec["LeafNodeType"] == "It"]


def full_name(spec: dict[str, Any]) -> str:
    return " ".join([*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]])


def chosen(cluster: Cluster, folder: Path, *, focus: str) -> list[str]:
    """Names of the tests to run, which e2e.test itself knows best."""
    flags = ["--ginkgo.dry-run", f"--ginkgo.focus={FOCUS}", f"--ginkgo.skip={SKIP}"]
    specs = e2e(cluster, *flags, report=folder / "names.json", log=folder / "names.log", timeout_s=300)
    names = [full_name(spec) for spec in specs if spec["State"] != "skipped"]
    return sorted(name for name in names if re.search(focus, name))


def shards(names: list[str], count: int) -> list[list[str]]:
    """`count` lists of about equal length, and one more of the tests that must be alone."""
    serial = [name for name in names if "[Serial]" in name]
    rest = [name for name in names if name not in serial]
    return [shard for shard in [*(rest[at::count] for at in range(count)), serial] if shard]


def run(cluster: Cluster, *, focus: str, parallel: int, folder: Path, timeout_s: float) -> dict[str, Outcome]:
    """Every chosen test on one server, `parallel` at a time, the serial ones last."""

    def one(numbered: tuple[int, list[str]]) -> dict[str, Outcome]:
        number, names = numbered
        focused = "|".join(re.escape(name).replace("\\ ", " ") for name in names)
        files = {"report": folder / f"shard-{number}.json", "log": folder / f"shard-{number}.log"}
        specs = e2e(cluster, f"--ginkgo.focus={focused}", timeout_s=timeout_s, **files)
        ended = {full_name(spec): outcome(spec) for spec in specs if spec["State"] != "skipped"}
        return {name: ended.get(name, Outcome("missing", 0, "did not run")) for name in names}

    parts = list(enumerate(shards(chosen(cluster, folder, focus=focus), parallel)))
    together = [part for part in parts if "[Serial]" not in part[1][0]]
    results: dict[str, Outcome] = {}
    with ThreadPoolExecutor(parallel) as pool:
        for result in pool.map(one, together):
            results |= result
        # A test that panics takes the rest of its process with it; each of those gets a process of its own.
        lost = [name for name, ended in results.items() if ended.state == "missing"]
        for result in pool.map(one, ((1000 + number, [name]) for number, name in enumerate(lost))):
            results |= result
    for number, part in parts:
        if (number, part) not in together:
            results |= one((number, part))
    return dict(sorted(results.items()))


def outcome(spec: dict[str, Any]) -> Outcome:
    message = spec.get("Failure", {}).get("Message", "")
    return Outcome(spec["State"], round(spec["RunTime"] / 1e9, 1), message.split("\n\n")[0][:400])


@contextlib.contextmanager
def server(name: str) -> Iterator[Cluster]:
    """A fresh server with one bare node that stays Ready."""
    started = RealKube(scheduler=True) if name == "real" else Embedded()
    with started as cluster:
        cluster.create("/api/v1/nodes", NODE)
        stop = threading.Event()
        heart = threading.Thread(target=keep_alive, args=(cluster, stop))
        heart.start()
        try:
            cluster.eventually("/api/v1/nodes/bare", lambda reply: not reply.json["spec"].get("taints"))
            yield cluster
        finally:
            stop.set()
            heart.join()


def keep_alive(cluster: Cluster, stop: threading.Event) -> None:
    """Do for the bare node what a kubelet does, so that nobody takes it for lost."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    strategic = {"Content-Type": "application/strategic-merge-patch+json"}
    cluster.http("POST", leases, {"metadata": {"name": "bare"}, "spec": {"leaseDurationSeconds": 40}})
    while True:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        renewed = {"spec": {"holderIdentity": "bare", "leaseDurationSeconds": 40, "renewTime": now}}
        status = NODE["status"] | {"conditions": [{**READY, "lastHeartbeatTime": f"{now[:19]}Z"}]}
        cluster.http("PATCH", f"{leases}/bare", renewed, strategic)
        cluster.http("PATCH", "/api/v1/nodes/bare/status", {"status": status}, strategic)
        if stop.wait(5):
            cluster.close()
            return


def markdown(results: dict[str, dict[str, Outcome]]) -> str:
    servers = list(results)
    names = sorted({name for outcomes in results.values() for name in outcomes})
    lines = [f"| test | {' | '.join(servers)} |", f"|---|{'---|' * len(servers)}"]
    for name in names:
        cells = [_cell(results[server].get(name)) for server in servers]
        lines.append(
            f"| {name.replace('[sig-api-machinery] ', '').replace(' [Conformance]', '')} | {' | '.join(cells)} |"
        )
    totals = [f"{sum(o.state == 'passed' for o in results[s].values())} of {len(results[s])}" for s in servers]
    lines.append(f"| **passed** | {' | '.join(totals)} |")
    return "\n".join(lines) + "\n"


def _cell(ended: Outcome | None) -> str:
    return "–" if ended is None else f"{ended.state} {ended.seconds:.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=["real", "embedded", "both"], default="both")
    parser.add_argument("--focus", default="", help="only tests whose name matches this pattern")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=2700, help="seconds for each group of tests")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "conformance")
    given = parser.parse_args()
    if absent := missing(["e2e.test", "kube-apiserver", "etcd"], assets()):
        print(f"{', '.join(absent)} not built. Run `python tools/build_kube.py e2e.test` first.", file=sys.stderr)
        return 1
    given.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, dict[str, Outcome]] = {}
    for name in ["real", "embedded"] if given.server == "both" else [given.server]:
        started = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix=f"conformance-{name}-"))
        with server(name) as cluster:
            results[name] = run(
                cluster, focus=given.focus, parallel=given.parallel, folder=folder, timeout_s=given.timeout
            )
        passed = sum(one.state == "passed" for one in results[name].values())
        print(f"{name}: {passed} of {len(results[name])} passed in {time.monotonic() - started:.0f} s; logs: {folder}")
        for test, ended in results[name].items():
            if ended.state != "passed":
                print(f"  {ended.state}: {test}\n      {ended.message}")
        as_json = {s: {t: asdict(o) for t, o in outcomes.items()} for s, outcomes in results.items()}
        (given.out / "results.json").write_text(json.dumps(as_json, indent=1))
        (given.out / "results.md").write_text(markdown(results))
    embedded, real = results.get("embedded", {}), results.get("real", {})
    behind = [t for t, o in embedded.items() if o.state != "passed" and real.get(t, o).state == "passed"]
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
