"""What Tidegate serves itself: admission reviews over TLS, and health and metrics over plain HTTP.

    certificates ─► kept (a Secret that all replicas share) ─► TLS of the listener
    listener ─► reviews ─► a function from what is asked to what is answered

Nothing is decided here: functions that judge are given by whoever starts a listener.
"""
