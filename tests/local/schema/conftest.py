from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness import Cluster
from tests.local.schema.godecoder import MODULE, GoDecoder, build
from tests.local.schema.published import GROUP, KINDS, crd


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[GoDecoder]:
    """The decoders of Kubernetes itself."""
    if not MODULE.exists():
        pytest.skip("Kubernetes' decoders are built from its modules; `make kube` downloads them (needs Go)")
    decoder = GoDecoder(build())
    yield decoder
    decoder.close()


@pytest.fixture(scope="session")
def publisher(real_cluster: Cluster) -> Iterator[Cluster]:
    """A real server that has our CRDs and has published them."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for kind in KINDS:
        real_cluster.create(crds, crd(kind))
    names = [kind.definition for kind in KINDS]
    for path in (f"/openapi/v3/apis/{GROUP}/v1", "/openapi/v2"):
        real_cluster.eventually(
            path, lambda reply: reply.status == 200 and all(name in reply.body.decode() for name in names)
        )
    yield real_cluster
    for kind in KINDS:
        real_cluster.http("DELETE", f"{crds}/{kind.plural}.{GROUP}")
