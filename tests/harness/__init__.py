"""Servers under test: a real Kubernetes control plane and the embedded one, behind one interface.

`Cluster` (cluster.py) is what a test sees; `RealKube` and `Embedded` start and stop the programs. Nothing here asserts
anything: that is what the suites do.
"""

from tests.harness.cluster import Cluster, Finished, Reply, Watch
from tests.harness.embedded import Embedded
from tests.harness.realkube import RealKube, missing_programs

__all__ = ["Cluster", "Embedded", "Finished", "RealKube", "Reply", "Watch", "missing_programs"]
