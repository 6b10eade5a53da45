"""The kinds of admissionregistration.k8s.io: webhooks and policies that judge other writes.

CEL expressions are asked for but not compiled here: this layer has no CEL.
"""
