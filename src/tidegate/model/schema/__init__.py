"""CRDs and reference pages, generated from the kinds' types and docstrings. Nothing here is needed to run a queue."""
