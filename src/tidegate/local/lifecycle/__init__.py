"""The life of objects beyond single writes: owners and dependents, namespaces that go, CRDs that come and go.

These live in the process of the API server and follow its store; they change objects only through its API.
"""
