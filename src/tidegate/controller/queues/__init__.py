"""Queues and ClusterQueues themselves: their statuses, and the ResourceQuotas beside them."""
