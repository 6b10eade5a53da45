"""The embedded control plane against etcd and kube-apiserver: one machine, one run, one table.

    python -m benchmarks            # every row, medians of three (about 10 minutes)
    python -m benchmarks --quick    # every row once (under 3 minutes)
    python -m benchmarks --only creates,memory --json result.json

Both sides do TLS, bearer tokens, authorization and admission, and sync every acknowledged write to disk. Load comes
from processes of its own (load.py), with bodies built beforehand, so that Python's client cost is the same for both
and never the limit. Nothing here is imported by the product.
"""
