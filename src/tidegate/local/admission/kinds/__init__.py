"""Admission of single kinds: what the server adds to them, and what it refuses because of other objects.

One module per concern, each a `Plugin` of the chain. What can be told from the object alone is the kind's own business.
"""
