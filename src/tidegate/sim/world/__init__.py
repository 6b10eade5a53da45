"""The world as it really is: nodes, queues, workloads, and pods that take their time to come and to go.

`World` has the verbs of what may happen from outside and shows itself as a Snapshot; `carry_out` does what a Plan says.
Nothing here decides: whoever simulates asks the planner. Pods are counted, not placed on single nodes.
"""

from tidegate.sim.world.application import Application
from tidegate.sim.world.carrying_out import carry_out
from tidegate.sim.world.happenings import Happening
from tidegate.sim.world.pods import PodGroup
from tidegate.sim.world.world import CannotHappenError, Delays, World

__all__ = ["Application", "CannotHappenError", "Delays", "Happening", "PodGroup", "World", "carry_out"]
