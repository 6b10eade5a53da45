"""CronJobs: Jobs that start by the clock. `schedule.py` knows when, `plan.py` decides, `controller.py` applies."""
