"""Servers as fixtures, and the rule for tests that need the real Kubernetes programs.

`make test` leaves out what is marked `kube` and says so; `pytest -m kube` runs it. A test that takes `cluster` runs
once per server: the real one is marked `kube`, the embedded one runs in both, so that a difference shows side by side.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.harness import Cluster, Embedded, RealKube, missing_programs

# The machines that run tests are shared, so no example has a deadline; what must land is tried with the same examples
# each time, while people's own runs look for new ones.
settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")

# A shell without job control has what it starts in the background ignore Ctrl-C, and all that is started from there
# would, too: the demo played on to its end, and its test failed where the tests themselves ran in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.markexpr:
        # `-m kube` runs the embedded server's half too, side by side; `-m "not kube"` is what needs no real one.
        if "not kube" not in config.option.markexpr:
            for item in items:
                if "cluster" in getattr(item, "fixturenames", ()):
                    item.add_marker(pytest.mark.kube)
        return
    left_out = [item for item in items if item.get_closest_marker("kube")]
    config.stash[LEFT_OUT] = len(left_out)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("kube")]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    count = config.stash.get(LEFT_OUT, 0)
    if count:
        terminalreporter.write_line(
            f"left out: {count} tests that need a real Kubernetes control plane; `make kube` builds one from source "
            "(needs Go), `make test-kube` runs them"
        )


@pytest.fixture(scope="session")
def real_cluster() -> Iterator[Cluster]:
    """etcd, kube-apiserver and kube-controller-manager, one set for the whole run."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    with RealKube() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def embedded_cluster() -> Iterator[Cluster]:
    """The embedded control plane without its node agent, one for the whole run."""
    with Embedded() as cluster:
        yield cluster


@pytest.fixture(params=[pytest.param("real", marks=pytest.mark.kube), "embedded"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Each of the two servers in turn."""
    given: Cluster = request.getfixturevalue(f"{request.param}_cluster")
    return given


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A fresh namespace on `cluster`, gone (or going) after the test."""
    name = cluster.namespace()
    yield name
    cluster.http("DELETE", f"/api/v1/namespaces/{name}")
