"""The laws of every Plan, checked from the outside: what a Plan does is judged against the Snapshot it was made from.

Nothing here uses the planner's own sums. `quota` works out bounds and shares again from the configuration, so that a
mistake there cannot hide itself.
"""

from tidegate.sim.laws.breach import Breach
from tidegate.sim.laws.checker import LawChecker

__all__ = ["Breach", "LawChecker"]
