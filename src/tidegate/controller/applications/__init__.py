"""Other people's objects: what they ask for becomes Workloads, what is granted is written into them.

`objects` are applications that a field holds back, `gated` are single pods that a scheduling gate holds back. Each
write carries the version it was made from; on a conflict nothing is tried again before the newer version was seen.
"""
