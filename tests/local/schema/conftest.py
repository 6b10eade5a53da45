from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.local.schema.godecoder import GoDecoder, build


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[GoDecoder]:
    """The decoders of Kubernetes itself."""
    decoder = GoDecoder(build())
    yield decoder
    decoder.close()
