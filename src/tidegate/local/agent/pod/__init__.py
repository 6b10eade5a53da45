"""The judgement of the agent: from a pod's spec and what its processes did, to its status and what to do next.

Pure functions over plain data. No clock (`now` is an argument), no I/O, no async, no processes.
"""
