"""A rollout keeps its promises at every step, whatever pods do meanwhile."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from tidegate.local.controllers.deployment.objects import Deployment
from tidegate.local.controllers.deployment.plan import plan_deployment
from tidegate.local.controllers.deployment.revisions import REVISION
from tidegate.local.controllers.replicas.objects import ReplicaSet

START = datetime(2026, 1, 1, tzinfo=UTC)
SHARES = st.one_of(st.integers(0, 4), st.sampled_from(["0%", "25%", "50%", "100%"]))


def template(image: int) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "main", "image": str(image)}]}}


class Rollout(RuleBasedStateMachine):
    """ReplicaSet controllers and pods are played by numbers: replicas follow the spec, available ones come and go."""

    @initialize(replicas=st.integers(0, 12), surge=SHARES, unavailable=SHARES, recreate=st.booleans())
    def begin(self, replicas: int, surge: int | str, unavailable: int | str, recreate: bool) -> None:
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
        spec = {
            "replicas": replicas,
            "template": template(0),
            "selector": {"matchLabels": {"app": "d"}},
            "strategy": {"type": "Recreate"} if recreate else rolling,
        }
        metadata = {"name": "d", "namespace": "n", "uid": "d", "generation": 1}
        self.deployment = msgspec.convert({"metadata": metadata, "spec": spec}, Deployment)
        self.sets: dict[str, ReplicaSet] = {}
        self.now = START
        self.resized = False
        """After a change of size, promises hold again once it was shared out."""

    @rule()
    def look(self) -> None:
        self.now += timedelta(seconds=1)
        busy = any(each.status.replicas for each in self.sets.values() if not self._newest(each))
        before = self._available()
        plan = plan_deployment(self.deployment, list(self.sets.values()), self.now, old_pods_run=busy)
        for change in plan.change:
            metadata = change.target.metadata
            metadata = replace(metadata, annotations=change.annotations, generation=metadata.generation + 1)
            spec = replace(change.target.spec, replicas=change.replicas)
            self.sets[metadata.name] = replace(change.target, metadata=metadata, spec=spec)
        if plan.create is not None:
            self._create(plan.create)
        for each in plan.delete:
            assert each.status.replicas == each.spec.replicas == 0
            del self.sets[each.metadata.name]
        self.deployment = replace(self.deployment, status=plan.status)
        if plan.revision:
            annotations = {**self.deployment.metadata.annotations, REVISION: plan.revision}
            self.deployment = replace(
                self.deployment, metadata=replace(self.deployment.metadata, annotations=annotations)
            )
        self._check(before)

    def _check(self, before: int) -> None:
        total = sum(each.spec.replicas for each in self.sets.values())
        if self.resized or not self.deployment.rolling:
            self.resized = False
            return
        assert total <= max(self.deployment.most_replicas, self.total)
        # Only what was available before can be kept available.
        assert self._available() >= min(before, self.deployment.least_available)

    @rule(data=st.data())
    def obey(self, data: st.DataObject) -> None:
        """A ReplicaSet controller makes or deletes pods; deleted ones are the unavailable first."""
        if not self.sets:
            return
        each = self.sets[data.draw(st.sampled_from(sorted(self.sets)))]
        ready = min(each.status.available_replicas, each.spec.replicas)
        status = replace(
            each.status,
            replicas=each.spec.replicas,
            ready_replicas=ready,
            available_replicas=ready,
            observed_generation=each.metadata.generation,
        )
        self.sets[each.metadata.name] = replace(each, status=status)

    @rule(data=st.data())
    def become_available_or_not(self, data: st.DataObject) -> None:
        if not self.sets:
            return
        each = self.sets[data.draw(st.sampled_from(sorted(self.sets)))]
        ready = data.draw(st.integers(0, each.status.replicas))
        status = replace(each.status, ready_replicas=ready, available_replicas=ready)
        self.sets[each.metadata.name] = replace(each, status=status)

    @rule(image=st.integers(0, 3))
    def change_template(self, image: int) -> None:
        self._respec(template=template(image))

    @rule(replicas=st.integers(0, 12))
    def scale(self, replicas: int) -> None:
        self._respec(replicas=replicas)
        self.resized = True

    @invariant()
    def remember(self) -> None:
        self.total = sum(each.spec.replicas for each in getattr(self, "sets", {}).values())

    def teardown(self) -> None:
        """When pods behave from now on, the rollout completes, in the newest revision alone."""
        if not hasattr(self, "deployment"):
            return
        for _ in range(200):
            before = (dict(self.sets), self.deployment.status)
            self.remember()
            self.look()
            for name, each in self.sets.items():
                counts = dict.fromkeys(("replicas", "ready_replicas", "available_replicas"), each.spec.replicas)
                status = replace(each.status, observed_generation=each.metadata.generation, **counts)
                self.sets[name] = replace(each, status=status)
            if before == (self.sets, self.deployment.status):
                break
        wanted, status = self.deployment.spec.replicas, self.deployment.status
        assert (status.replicas, status.updated_replicas, status.available_replicas) == (wanted, wanted, wanted)
        sizes = {each.metadata.name: each.spec.replicas for each in self.sets.values() if each.spec.replicas}
        assert len(sizes) == (1 if wanted else 0)
        newest = [each for each in self.sets.values() if self._newest(each)]
        revisions = {name: int(each.metadata.annotations[REVISION]) for name, each in self.sets.items()}
        assert revisions[newest[0].metadata.name] == max(revisions.values())
        assert self.deployment.metadata.annotations[REVISION] == str(max(revisions.values()))

    def _respec(self, **spec: Any) -> None:
        metadata = replace(self.deployment.metadata, generation=self.deployment.metadata.generation + 1)
        spec_now = replace(self.deployment.spec, **spec)
        self.deployment = replace(self.deployment, metadata=metadata, spec=spec_now)

    def _create(self, body: dict[str, Any]) -> None:
        metadata = body["metadata"] | {"namespace": "n", "uid": body["metadata"]["name"], "generation": 1}
        metadata["creationTimestamp"] = self.now.isoformat()
        created = msgspec.convert(body | {"metadata": metadata}, ReplicaSet)
        assert created.metadata.name not in self.sets
        self.sets[created.metadata.name] = created

    def _newest(self, each: ReplicaSet) -> bool:
        return bool(each.spec.template["spec"] == self.deployment.spec.template["spec"])

    def _available(self) -> int:
        return sum(min(each.status.available_replicas, each.spec.replicas) for each in self.sets.values())


Rollout.TestCase.settings = settings(
    max_examples=int(os.environ.get("ROLLOUT_EXAMPLES", "60")),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestRollout = Rollout.TestCase
