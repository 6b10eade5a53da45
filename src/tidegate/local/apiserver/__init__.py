"""Kubernetes' REST API over the store, for one machine.

One verb per file; `server.py` is the story of a request. Nothing here knows queues, and nothing here runs pods: like
any API server it keeps objects, checks them, and tells whoever watches.
"""
