"""The quiet API server of the patch tests: nothing but the tests writes to it."""

from tests.local.patch.conftest import quiet_cluster

__all__ = ["quiet_cluster"]
