"""The status of a Queue or ClusterQueue, from how the scheduler says that it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidegate.controller.told.workloads import moment
from tidegate.model.kinds.cluster_queue import QueueStatus
from tidegate.model.kinds.shape import Condition, ConditionStatus
from tidegate.model.ratio import Ratio
from tidegate.scheduler import Instant, Standing

_BILLION = 10**9


def queue_status(
    before: QueueStatus, standing: Standing | None, now: Instant, says: Iterable[Condition]
) -> QueueStatus:
    """Its status now. Without a standing it is not part of the tree, and holds nothing."""
    conditions = tuple(_since(each, before, now) for each in says)
    if standing is None:
        return QueueStatus(conditions=conditions)
    return QueueStatus(
        deserved=standing.deserved,
        allocated=standing.allocated,
        used=standing.used,
        # As many digits as can be written, so that what is read back is what was written.
        share=Ratio(round(standing.share * _BILLION), _BILLION),
        pending_workloads=standing.pending,
        admitted_workloads=standing.admitted,
        conditions=conditions,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Slips:
    """What a queue says that is most likely not meant."""

    circle: str = ""
    """That it is its own ancestor, and what to do."""
    flavors: Sequence[str] = ()
    """Those it has quota of and nobody describes."""
    resources: Sequence[str] = ()
    """Those that no pod can request."""
    beyond: Sequence[str] = ()
    """Resources of which it requests more than it may have."""


NO_SLIPS = Slips()


def active(
    standing: Standing | None, *, stopped: bool = False, unknown_policy: bool = False, slips: Slips = NO_SLIPS
) -> Condition:
    """Whether it serves its workloads, and what in it is likely to be a slip."""
    if standing is None:
        text = slips.circle or "its ClusterQueue, or one above, does not exist; create it"
        return said("Active", False, "NotInTree", text)
    if stopped:
        return said("Active", False, "Stopped", "it is held; set stop to None to open it")
    if unknown_policy:
        return said("Active", True, "UnknownPolicy", "nobody registered the policy it names; drf is used")
    if slips.flavors:
        named = ", ".join(slips.flavors)
        text = f"there is no ResourceFlavor {named}, so what it grants of it may run on any node; create it"
        return said("Active", True, "UnknownFlavor", text)
    if slips.resources:
        text = f"no pod can request {', '.join(slips.resources)}; write e.g. cpu, or nvidia.com/gpu with its domain"
        return said("Active", True, "UnknownResource", text)
    if slips.beyond:
        text = f"its request of {', '.join(slips.beyond)} is above its limits; raise limits or lower request"
        return said("Active", True, "RequestAboveLimits", text)
    return said("Active", True, "Open", "")


def guaranteed(standing: Standing) -> Condition:
    """Whether what is promised below it is there."""
    short = standing.short_of_guarantees
    if not short:
        return said("Guaranteed", True, "Enough", "")
    lacking = ", ".join(f"{text} {name}" for name, text in short.total().quantities().items())
    return said("Guaranteed", False, "NotEnough", f"the guarantees below it exceed what there is by {lacking}")


def said(kind: str, holds: bool, reason: str, text: str) -> Condition:
    """A condition that is judged anew every time; since when it is so is filled in later."""
    status = ConditionStatus.TRUE if holds else ConditionStatus.FALSE
    return Condition(type=kind, status=status, reason=reason, message=text, last_transition_time=moment(0))


def _since(made: Condition, before: QueueStatus, now: Instant) -> Condition:
    old = next((each for each in before.conditions if each.type == made.type), None)
    at = old.last_transition_time if old is not None and old.status is made.status else moment(now)
    return Condition(
        type=made.type, status=made.status, reason=made.reason, message=made.message, last_transition_time=at
    )
