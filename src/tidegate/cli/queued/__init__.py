"""Commands on queues and servers: `queue`, `operator`. They show and send; they decide nothing.

`cluster` says which server is meant, here and for all commands that talk to one; `tables` is how things are shown.
"""
