"""Tidegate on a Kubernetes: what is put there, with which rights, and how it is taken away again.

`rights`, `deployment` and `objects` are manifests, made from the table of kinds; pure. `arriving` and `leaving` carry
them out. The webhook configurations are not among them: the operator writes those itself once it can answer, since one
that nobody answers would stop every namespace that is ruled.
"""
