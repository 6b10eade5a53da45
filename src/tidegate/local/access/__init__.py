"""Who may do what: certificates, tokens, and RBAC evaluated for every request.

Nothing here stores or serves objects; it reads RBAC objects from the store and answers yes or no.
"""
