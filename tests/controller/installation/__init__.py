"""Tidegate put on a cluster and taken away again, with exactly the rights it is given."""
