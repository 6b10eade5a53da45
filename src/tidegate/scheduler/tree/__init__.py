"""The quota tree and its books: who stands where, what is given out below each node, and how large its share is.

`cells` and `node` are the numbers, `flavors` the machines, `tree` puts them together from a snapshot, `ledger` keeps
what is in use. Nothing here knows whose turn it is.
"""
