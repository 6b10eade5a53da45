"""The same intent for other schedulers."""
