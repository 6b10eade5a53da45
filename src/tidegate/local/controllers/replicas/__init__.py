"""ReplicaSets and ReplicationControllers: so many pods of one template, kept at that number."""
