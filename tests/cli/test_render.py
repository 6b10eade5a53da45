"""`tidegate render` as a person uses it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness import Cluster
from tests.model.jobs.samples import KINDS, sample
from tidegate.cli.main import main

Json = Any
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "03-other-schedulers"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUES = str(EXAMPLES / "queues.yaml")
RAY = str(EXAMPLES / "ray.yaml")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, output and errors; usage errors end the process, and are caught here."""
    try:
        code = main(["render", *arguments])
    except SystemExit as ended:
        code = int(ended.code or 0)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    return code, shown.out, shown.err


def documents(text: str) -> list[Json]:
    return list(yaml.safe_load_all(text))


def test_a_job_with_everything_said(capsys: pytest.CaptureFixture[str]) -> None:
    who = ["--organisation", "org1", "--user", "anna", "--groups", "a,b", "--resource-type", "task", "--id", "7"]
    code, out, _ = run(capsys, "--config", str(EXAMPLES / "queueconfig.yaml"), *who, RAY)
    assert code == 0
    (ray,) = documents(out)
    metadata = ray["spec"]["workerGroupSpecs"][0]["template"]["metadata"]
    assert metadata["labels"]["yunikorn.apache.org/queue"] == "root.org1.ray"
    assert metadata["labels"]["yunikorn.apache.org/app-id"] == "task-7"
    assert json.loads(metadata["annotations"]["yunikorn.apache.org/user.info"]) == {
        "user": "anna",
        "groups": ["a", "b"],
    }


@pytest.mark.parametrize("scheduler", ["kueue", "yunikorn", "volcano", "scheduler-plugins", "tidegate"])
def test_every_kind_is_rendered_from_one_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str
) -> None:
    file = tmp_path / "all.yaml"
    kinds = [kind for kind in KINDS if kind != "TrainJob"]
    file.write_text(yaml.safe_dump_all([sample(kind) for kind in kinds]))
    code, out, err = run(capsys, "--for", scheduler, str(file))
    assert code == 0, err
    assert [obj["kind"] for obj in documents(out) if obj["kind"] != "PodGroup"] == kinds


def test_explanations_are_comments_so_that_the_output_can_still_be_applied(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, "--for", "volcano", "--user", "anna", "--explain", RAY)
    assert out.startswith("# dropped: user: ")
    assert [obj["kind"] for obj in documents(out)] == ["PodGroup", "RayCluster"]
    assert err == ""
    _, out, err = run(capsys, "--for", "volcano", "--user", "anna", "--explain", "-o", "json", RAY)
    assert [obj["kind"] for obj in json.loads(out)["items"]] == ["PodGroup", "RayCluster"]
    assert "# dropped: user" in err


def test_nothing_is_dropped_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = run(capsys, "--for", "volcano", "--user", "anna", RAY)
    assert err == "tidegate: 1 thing could not be carried over; --explain says which.\n"


def test_standard_input_and_lists_are_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [sample("Job"), sample("Pod")]}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(listed)))
    code, out, _ = run(capsys, "--for", "kueue", "-")
    assert (code, [obj["kind"] for obj in documents(out)]) == (0, ["Job", "Pod"])


def test_queues_in_the_same_files_give_jobs_their_full_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    job = sample("Job")
    job["metadata"]["labels"] = {"tidegate.dev/queue": "spark"}
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(job))
    _, out, _ = run(capsys, "--for", "yunikorn", QUEUES, str(file))
    assert "yunikorn.apache.org/queue: root.company.org1.spark" in out
    assert documents(out)[0]["partitions"][0]["name"] == "default"
    _, out, _ = run(capsys, "--for", "volcano", QUEUES, str(file))
    assert "queue: org1-spark" in out


def test_what_is_no_job_is_handed_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "both.yaml"
    file.write_text(
        yaml.safe_dump_all([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, sample("Job")])
    )
    _, out, _ = run(capsys, "--for", "kueue", "--explain", str(file))
    assert [obj["kind"] for obj in documents(out)] == ["ConfigMap", "Job"]
    assert "# changed: ConfigMap c: it is no job" in out


@pytest.mark.parametrize("scheduler", ["kueue", "yunikorn", "volcano", "tidegate"])
def test_queues_are_rendered_and_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path, scheduler: str) -> None:
    code, out, _ = run(capsys, "--queues", "--for", scheduler, QUEUES)
    assert code == 0
    live = tmp_path / "live.yaml"
    live.write_text(out)
    code, said, _ = run(capsys, "--queues", "--for", scheduler, "--check", str(live), QUEUES)
    assert (code, said) == (0, f"{live} says what the queues say.\n")
    changed = out.replace("128Gi", "100Gi")
    assert changed != out
    live.write_text(changed)
    code, said, _ = run(capsys, "--queues", "--for", scheduler, "--check", str(live), QUEUES)
    assert code == 1
    assert all("is 100Gi, should be 128Gi" in line for line in said.splitlines())


def test_a_kind_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "--for", "volcano", "--kinds", str(EXAMPLES / "own-kind.yaml"), str(EXAMPLES / "sweep.yaml")
    )
    assert code == 0
    group, sweep = documents(out)
    assert group["spec"] == {"minMember": 3, "minResources": {"cpu": "3", "memory": "3Gi"}, "queue": "default"}
    assert sweep["spec"]["trialTemplate"]["spec"]["schedulerName"] == "volcano"


def test_without_files_the_clusters_own_queues_are_meant(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, embedded_cluster: Cluster
) -> None:
    api = "/apis/tidegate.dev/v1alpha1"
    for plural in ("clusterqueues", "queues", "resourceflavors"):
        definition = (ROOT / "deploy" / "crds" / f"{plural}.tidegate.dev.yaml").read_text()
        reply = embedded_cluster.http("POST", CRDS, yaml.safe_load(definition))
        assert reply.status in (201, 409), reply.body
        embedded_cluster.eventually(f"{api}/{plural}", lambda reply: reply.status == 200)
    for number, obj in enumerate(yaml.safe_load_all(Path(QUEUES).read_text())):
        obj = {"apiVersion": "tidegate.dev/v1alpha1"} | obj
        where = f"{api}/clusterqueues" if number < 2 else f"{api}/namespaces/default/queues"
        obj["metadata"].pop("namespace", None)
        embedded_cluster.create(where, obj)
    cluster = ["--kubeconfig", str(embedded_cluster.kubeconfig)]
    code, out, err = run(capsys, "--queues", "--for", "yunikorn", *cluster)
    assert code == 0, err
    live = tmp_path / "live.yaml"
    live.write_text(out.replace("'48'", "'40'"))
    code, said, _ = run(capsys, "--queues", "--for", "yunikorn", "--check", str(live), *cluster)
    assert (code, said) == (1, "root.company.org1: resources.max.vcore: is 40, should be 48\n")


def _written(tmp_path: Path, *objects: Json) -> str:
    file = tmp_path / "given.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    return str(file)


def test_of_several_jobs_notes_and_errors_say_which(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = _written(tmp_path, sample("CronJob"), sample("Deployment"))
    _, out, _ = run(capsys, "--for", "yunikorn", "--explain", file)
    notes = [line for line in out.splitlines() if line.startswith("#")]
    assert [line for line in notes if " user: " in line] == [notes[0]], "what holds for all is said once"
    assert notes[0].startswith("# needs: user: none is given")
    assert any(line.startswith("# changed: Deployment deployment: gang of main: ") for line in notes)
    wrong = sample("Job") | {"metadata": {"name": "wrong"}, "spec": {}}
    _, _, err = run(capsys, "--for", "yunikorn", _written(tmp_path, sample("Deployment"), wrong))
    assert err.startswith("tidegate: Job wrong: the Job describes no pods")


def test_a_job_of_an_unknown_version_among_others_is_not_handed_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It would have been applied without its queue, with nothing but a note."""
    old = sample("RayCluster") | {"apiVersion": "ray.io/v1alpha1"}
    code, _, err = run(capsys, "--for", "kueue", _written(tmp_path, sample("Job"), old))
    assert (code, "RayCluster ray: apiVersion: ray.io/v1alpha1 is not a version" in err) == (1, True)


def test_jobs_that_would_be_one_application_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """YuniKorn reads the gang of an application from its first pod, so the second would have none."""
    jobs = [sample("Job") | {"metadata": {"name": name}} for name in ("one", "two")]
    _, out, _ = run(capsys, "--for", "yunikorn", "--id", "7", "--explain", _written(tmp_path, *jobs))
    assert "# changed: application: Job one and Job two share the id job-7, and are one to YuniKorn" in out
    _, out, _ = run(capsys, "--for", "yunikorn", "--explain", _written(tmp_path, *jobs))
    assert "share the id" not in out


def test_files_without_objects_are_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A pipe whose first command failed gave an empty answer and success."""
    empty = tmp_path / "empty.yaml"
    empty.write_text("---\n# nothing\n")
    code, out, err = run(capsys, "--for", "kueue", str(empty))
    assert (code, out) == (1, "")
    assert err == "tidegate: The files have no objects. Give manifests with apiVersion and kind.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([RAY], 2, "name the scheduler with --for"),
        (["--for", "kueue"], 2, "FILE"),
        (["--for", "kueue", "--check", RAY, RAY], 2, "add --queues"),
        (["--for", "slurm", RAY], 2, '"slurm" is not a scheduler known here; use one of'),
        (["--for", "kueue", "absent.yaml"], 1, "absent.yaml is not there."),
        (["--for", "kueue", str(EXAMPLES / "spark.yaml")], 1, "dynamicAllocation is on, and Kueue takes only"),
        (
            ["--for", "kueue", str(EXAMPLES / "sweep.yaml")],
            1,
            "example.com/v1 Sweep is not a known kind of job; use one",
        ),
        (
            ["--for", "kueue", "--config", str(EXAMPLES / "queueconfig.yaml"), RAY],
            1,
            "is yunikorn, but kueue was asked",
        ),
        (["--for", "kueue", "--config", RAY, RAY], 1, "queueconfig.apiVersion: is not known here"),
        (["--for", "kueue", "--kinds", RAY, RAY], 1, "kinds: is missing"),
        (["--for", "kueue", "--groups", "a", RAY], 2, "groups are given without a user"),
        (["--for", "yunikorn", "--organisation", "o" * 70, RAY], 1, "shorten it to at most 63"),
        (["--for", "kueue", "--queues", RAY], 1, "The files have no queues."),
        (["--for", "scheduler-plugins", "--queues", QUEUES], 2, "scheduler-plugins has no queues to render."),
        (["--for", "kueue", str(EXAMPLES / "README.md")], 1, "README.md"),
        (["--for", "kueue", str(EXAMPLES)], 1, "cannot be read"),
        (["--for", "yunikorn", "--queues", "--check", RAY, QUEUES], 1, "has no partitions:"),
    ],
)
def test_each_mistake_is_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    found, _, err = run(capsys, *arguments)
    assert found == code, err
    assert said in err
