"""The kinds of the core group: pods and what they need, one file per family.

`pod_spec` is shared by every kind that makes pods. Nothing here knows the server, its store or other objects.
"""
