"""The kinds of the batch group: Job and CronJob."""
