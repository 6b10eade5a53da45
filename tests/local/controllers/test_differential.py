"""The same stories end the same way under kube-controller-manager and under these controllers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.controllers.scripts import DEPLOYMENT_SCRIPTS, JOB_SCRIPTS, OTHER_SCRIPTS, QUOTA_SCRIPTS, Script
from tests.local.controllers.stage import Stage, client_of, close

pytestmark = pytest.mark.kube


async def _tell(stage: Stage, scripts: list[Script]) -> dict[str, Any]:
    """All stories at once, so that their waits overlap."""
    ends = await asyncio.gather(*(script(stage) for script in scripts), return_exceptions=True)
    return {script.__name__: end for script, end in zip(scripts, ends, strict=True)}


# A quota counts whatever is in its namespace, so its story is told alone.
STORIES = {"jobs": JOB_SCRIPTS, "deployments": DEPLOYMENT_SCRIPTS, "others": OTHER_SCRIPTS, "quotas": QUOTA_SCRIPTS}


@pytest.mark.parametrize("scripts", STORIES.values(), ids=STORIES.keys())
async def test_stories_end_as_kubernetes_ends_them(scripts: list[Script], stage: Stage, real_cluster: Cluster) -> None:
    """Final statuses are equal but for times and generated names."""
    client = client_of(real_cluster)
    original = Stage(client)
    try:
        await original.open()
        theirs, ours = await _tell(original, scripts), await _tell(stage, scripts)
    finally:
        await original.close()
        await close(client)
    for name, expected in theirs.items():
        assert not isinstance(expected, BaseException), (name, expected)
        assert ours[name] == expected, name
