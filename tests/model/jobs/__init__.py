"""The kind table, read against objects of every kind."""
