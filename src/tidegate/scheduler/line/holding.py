"""What one workload holds while a plan is being made."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.scheduler.snapshot import NO_ENTRIES, Counts, Instant, Workload
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.node import TreeNode


class Holding:
    """The counts of a workload by pod set and flavor, changed only by the draft that keeps the ledger in step."""

    __slots__ = (
        "_need",
        "admitted",
        "granted",
        "held",
        "listed",
        "listed_with_surplus",
        "new",
        "present",
        "queue",
        "since",
        "workload",
    )

    def __init__(self, workload: Workload, queue: TreeNode | None, *, afresh: bool = False, now: Instant = 0) -> None:
        self.workload = workload
        self.queue = queue
        self.admitted = workload.admitted_at is not None and not afresh
        self.new = False
        """Admitted by this very plan."""
        self.present: list[Counts] = []
        self.granted: list[dict[str, int]] = []
        self.held: list[dict[str, int]] = []
        for one in workload.pod_sets:
            self.present.append(NO_ENTRIES if afresh else one.present)
            self.granted.append({} if afresh or not one.granted else dict(one.granted))
            self.held.append({} if afresh or not one.held else dict(one.held))
        self.since = now if workload.admitted_at is None else workload.admitted_at
        """When it was admitted."""
        self.listed = False
        """Whether the books list it among those who hold something,"""
        self.listed_with_surplus = False
        """and among those who hold more than their floor."""
        self._need: Need | None = None

    def change(self, index: int, flavor: str, count: int, held: int = 0) -> None:
        """So many more (or fewer) pods, and so many more (or fewer) of them that may not start yet."""
        granted, waiting = self.granted[index], self.held[index]
        granted[flavor] = granted.get(flavor, 0) + count
        waiting[flavor] = waiting.get(flavor, 0) + held
        self._need = None

    def take_up(self, pods: Iterable[tuple[int, str, int]], *, held: bool = False) -> None:
        """It held nothing, and holds these pods from now on; `held`: they may not start yet."""
        for index, flavor, count in pods:
            self.granted[index][flavor] = count
            if held:
                self.held[index][flavor] = count

    def count(self, index: int) -> int:
        """Pods of one pod set."""
        return sum(self.granted[index].values())

    @property
    def weight(self) -> tuple[int, int, int, str]:
        """The lightest gives way last: lowest priority first, then the newest; of equals the last by name, since the
        first by name came in first."""
        workload = self.workload
        return (-workload.priority, self.since, workload.created, workload.name)

    def odd(self, index: int, count: int) -> int:
        """Of so many pods of one pod set, those beyond a whole step; none if it had as many before this plan."""
        pod_set = self.workload.pod_sets[index]
        if count <= pod_set.least or count == sum(pod_set.granted.values()):
            return 0
        return (count + pod_set.ended - min(pod_set.floor, pod_set.count)) % pod_set.step

    def surplus(self, index: int) -> int:
        """Pods above the floor."""
        return max(0, self.count(index) - self.workload.pod_sets[index].least)

    @property
    def has_surplus(self) -> bool:
        pod_sets = zip(self.granted, self.workload.pod_sets, strict=True)
        return any(sum(counts.values()) > pod_set.least for counts, pod_set in pod_sets)

    def going(self, index: int, flavor: str) -> int:
        """Pods that are there without a grant."""
        return max(0, self.present[index].get(flavor, 0) - self.granted[index].get(flavor, 0))

    def kept(self, index: int, flavor: str) -> int:
        """Pods that lost their grant in this very plan: nobody has told them to go, so given again they just stay."""
        before = self.workload.pod_sets[index]
        ran = before.granted.get(flavor, 0) - before.held.get(flavor, 0)
        runs = self.granted[index].get(flavor, 0) - self.held[index].get(flavor, 0)
        return max(0, ran - runs)

    @property
    def gained(self) -> bool:
        """Whether it holds pods that this very plan gave it."""
        pod_sets = zip(self.granted, self.workload.pod_sets, strict=True)
        return any(
            count > before.granted.get(flavor, 0) for counts, before in pod_sets for flavor, count in counts.items()
        )

    @property
    def has_less(self) -> bool:
        """Whether it holds fewer pods than before this very plan."""
        pod_sets = self.workload.pod_sets
        return any(self.count(index) < sum(before.granted.values()) for index, before in enumerate(pod_sets))

    @property
    def waits_to_start(self) -> bool:
        """Whether some of its pods may not start yet."""
        return any(self.held) and any(map(any, map(dict.values, self.held)))

    @property
    def was_impatient(self) -> bool:
        """Whether it was admitted because it had lost patience, perhaps beyond what its queue deserves. Its floor is
        then safe from those who deserve more: they would take it back at once, and it would wait for ever."""
        waited = self.since - self.workload.waits_since
        return self.queue is not None and self.queue.patience is not None and waited > self.queue.patience

    @property
    def ends_by(self) -> Instant | None:
        """When it has surely ended, if that can be told; also where this very plan admits it."""
        seconds = self.workload.max_run_seconds
        return self.since + seconds if self.admitted and seconds is not None else None

    def need(self) -> Need:
        """All it holds."""
        assert self.queue is not None
        axes = self.queue.axes
        if self._need is not None:
            return self._need
        self._need = total(
            axes.pods(pod_set.requests, flavor, count)
            for pod_set, counts in zip(self.workload.pod_sets, self.granted, strict=True)
            for flavor, count in counts.items()
            if count
        )
        return self._need
