"""The wire: an async client to any Kubernetes API server, and what programs build on it.

    connect ──► Client ──► Transport        one interface; HTTP, or the embedded server's own `send` without a socket
                  │
                  ├──► Informer ──► on_change ──► WorkQueue ──► your code
                  ├──► LeaderElection (leases)      one of many does the work
                  └──► EventRecorder (events)       tells people why

Nothing here knows queues, workloads or what an object means: only how objects are read, written and followed.
`client`, `informer` and `workqueue` import neither aiohttp nor yaml; only `transport` and `config` do.
"""
