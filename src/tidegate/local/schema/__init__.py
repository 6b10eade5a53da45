"""The shapes of objects, and what follows from shape alone: decoding, protobuf, the published OpenAPI documents.

`kubernetes.json` holds what is known of Kubernetes' own kinds; `tools/generate_schema.py` writes it from Kubernetes'
published modules. Nothing here knows what a field means, stores anything, or speaks HTTP.
"""
