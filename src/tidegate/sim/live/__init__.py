"""A cluster as it is now, as the beginning of a simulation: what would happen next, and what if.

reading.py  a server's objects ─► Snapshot      adopting.py  Snapshot ─► World, its pods under way
starting.py when everybody who waits would start
"""
