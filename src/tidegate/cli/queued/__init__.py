"""Daily commands of people who queue work: run, status, why, queue, operator. They show and send; they decide nothing.

`cluster` says which server is meant; the others are one command each.
"""
