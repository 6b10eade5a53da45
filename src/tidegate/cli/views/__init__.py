"""What there is and why it is so: `status` and `why`. They read what the operator wrote down, and decide nothing.

tree.py   queues in their order      rows.py  both tables as rows of text      watching.py  the same, as it changes
"""
