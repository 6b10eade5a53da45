"""A policy of one's own: among the children of a ClusterQueue, the smallest ask is served first.

A package offers it to Tidegate in its pyproject.toml:

    [project.entry-points."tidegate.policies"]
    smallest-first = "smallest_first:SmallestFirst"
"""

from tidegate.scheduler import Candidate


class SmallestFirst:
    """Fewest pods first; between equals, whoever has the smallest share."""

    def order(self, candidate: Candidate) -> tuple[object, ...]:
        return (candidate.pods, candidate.share)
