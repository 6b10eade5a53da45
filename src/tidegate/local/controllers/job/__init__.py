"""The Job controller: `plan.py` decides, `controller.py` applies.

How no pod is lost or counted twice: every pod of a Job carries the finalizer `batch.kubernetes.io/job-tracking`, so
that a finished pod cannot vanish before it is counted. Counting takes two writes of the Job's status with the removal
of the finalizer between them:

    pod finished ─► uid into status.uncountedTerminatedPods ─► finalizer off ─► uid out again, counter up

Whoever crashes where: a uid that is listed and whose pod still has the finalizer is not counted again, a uid whose pod
has none any more is moved into the counter. Successes of an Indexed Job need no list, since the index itself tells.
"""
