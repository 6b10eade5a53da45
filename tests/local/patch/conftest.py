"""A real API server with nothing else alive in it: no controller writes to the objects under comparison."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import Cluster, RealKube, missing_programs

# Plugins that would write fields of their own into the objects under comparison.
_QUIET = "--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,NamespaceLifecycle"


@pytest.fixture(scope="session")
def quiet_cluster() -> Iterator[Cluster]:
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    with RealKube(controllers=False, apiserver_flags=[_QUIET]) as cluster:
        yield cluster
