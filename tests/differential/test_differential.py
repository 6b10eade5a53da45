"""Both servers answer every request alike."""

from __future__ import annotations

import os

import pytest

from tests.differential import compare, mutation, stories
from tests.harness import Cluster

pytestmark = pytest.mark.kube

SEED = int(os.environ.get("TIDEGATE_SEED", "1"))
RANDOM_STORIES = 100


@pytest.mark.parametrize("story", stories.load(), ids=str)
def test_both_servers_answer_alike(story: stories.Story, real_cluster: Cluster, embedded_cluster: Cluster) -> None:
    """Status code, reason, causes and object of every answer are the same on both."""
    found = [str(one) for one in compare.differences(story, real=real_cluster, embedded=embedded_cluster)]
    assert not found, f"{len(found)} of {len(story.steps)} requests answered differently:\n\n" + "\n\n".join(found)


@pytest.mark.parametrize("story", list(mutation.stories(SEED, RANDOM_STORIES)), ids=str)
def test_random_requests_are_answered_alike(
    story: stories.Story, real_cluster: Cluster, embedded_cluster: Cluster
) -> None:
    """Good manifests changed at random are answered the same by both; TIDEGATE_SEED gives other ones."""
    found = [str(one) for one in compare.differences(story, real=real_cluster, embedded=embedded_cluster)]
    assert not found, "\n\n".join(found)


def test_there_are_enough_requests_and_every_exception_still_exists() -> None:
    """At least 300 requests are compared, and no accepted difference is about a request that is gone."""
    loaded = stories.load()
    assert sum(len(story.steps) for story in loaded) >= 300
    existing = {f"{story} [request {number + 1}]" for story in loaded for number in range(len(story.steps))}
    assert set(compare.accepted()) <= existing
