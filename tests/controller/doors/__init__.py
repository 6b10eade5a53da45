"""The doors: in the embedded server, and as webhooks of both control planes."""
