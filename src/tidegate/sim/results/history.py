"""How every place stood, from moment to moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tidegate.scheduler import Instant, Plan, Standing
from tidegate.sim.laws.quota import Amounts, QuotaTree, add, over_flavors
from tidegate.sim.world import World


@dataclass(frozen=True, slots=True)
class Sample:
    """How things stood from a moment on."""

    at: Instant
    standings: Mapping[str, Standing]
    """By ClusterQueue name, or Queue namespace/name."""
    capacity: Mapping[str, int]
    """Of all roots together, by resource."""


@dataclass(slots=True)
class History:
    """Samples in order of time; each holds until the next, the last until `end`."""

    samples: list[Sample] = field(default_factory=list)
    end: Instant = 0
    _configuration: tuple[object, ...] = ()
    _capacity: dict[str, int] = field(default_factory=dict)

    def record(self, world: World, plan: Plan) -> None:
        sample = Sample(world.now, plan.standings, self._capacity_of(world))
        self.end = world.now
        if self.samples and self.samples[-1].at == world.now:
            self.samples[-1] = sample
        elif not self.samples or _differs(sample, self.samples[-1]):
            self.samples.append(sample)

    def end_with_the_last_change(self, least: Instant) -> None:
        """Leave out the time, beyond a moment, in which nothing was different any more: that the patience of somebody
        ended who can never start is no part of a run."""
        if self.samples:
            self.end = min(self.end, max(self.samples[-1].at, least))

    def spans(self) -> Iterator[tuple[Sample, int]]:
        """Every sample with how many seconds it held. Before the first nobody wanted anything, which counts, too."""
        if self.samples:
            if first := self.samples[0].at:
                yield Sample(0, {}, self.samples[0].capacity), first
            ends = [sample.at for sample in self.samples[1:]] + [self.end]
            yield from ((sample, end - sample.at) for sample, end in zip(self.samples, ends, strict=True))

    def _capacity_of(self, world: World) -> dict[str, int]:
        places = (dict(world.cluster_queues), dict(world.queues))
        configuration = (tuple(world.nodes.values()), dict(world.flavors), *places)
        if configuration != self._configuration:
            tree = QuotaTree(world.snapshot())
            self._configuration, self._capacity = configuration, capacity_of(tree)
        return self._capacity


def _differs(one: Sample, other: Sample) -> bool:
    return (one.standings, one.capacity) != (other.standings, other.capacity)


def capacity_of(tree: QuotaTree) -> dict[str, int]:
    """By resource: what the roots with any Queue state, and what they read from the nodes, however many of them do."""
    read: Amounts = {}
    total: Amounts = {}
    for root in filter(tree.has_doors, tree.roots) if any(map(tree.has_doors, tree.roots)) else tree.roots:
        stated = tree.stated(root)
        add(total, stated)
        read |= {cell: amount for cell, amount in root.capacity.items() if cell not in stated}
    add(total, read)
    return over_flavors(total)
