"""Where workloads come from when nobody writes them down one by one: chance (`synthetic`) and recordings (`trace`).

Both enter their events in a world's agenda, one ahead, and decide nothing about who runs.
"""
