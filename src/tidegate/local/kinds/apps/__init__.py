"""The kinds that keep pods running: of the group apps, and the older ReplicationController."""
