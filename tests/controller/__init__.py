"""The operator at work, on the embedded control plane and on the real one."""
