"""What any Kubernetes API server does, as one suite over both: the real one proves the test, the embedded one the code.

A test takes `cluster` and must not ask which of the two it got.
"""
