"""Work of one's own: put in line, followed, cancelled. Why it waits is read from its Workload, never decided here.

found.py  a name ─► its Workload, its pods        follow.py  one Job as it goes
job.py    a command ─► a Job                      streams.py what pods say, line by line
"""
