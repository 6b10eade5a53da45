"""Other people's objects: what they ask for becomes Workloads, what is granted is written into them.

`objects` are applications, held back by a field of their own or (`workers`) by gates of their pods; `gated` are single
pods; `gates` lifts gates for both; `queue_jobs` are run here. Each write carries the version it was made from; on a
conflict nothing is tried again before the newer version was seen.
"""
