"""The house: a user and a network namespace in which an ordinary user may do for pods what otherwise only root may.

A small keeper process outside holds the namespaces open, so that pods keep their network when the agent dies, and
carries connections over the border: to the API server, which is outside. The agent moves in before it does anything
else. Nothing here knows pods; only the standard library is imported by the keeper.
"""
