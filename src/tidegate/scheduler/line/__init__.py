"""Whose turn it is: asks in rows, rows in Queues, Queues in the tree.

`asks` says what can be asked for, `holding` what a workload has, `fit` where an ask would stand, `line` which one is
next. Nothing here takes anything from anybody.
"""
