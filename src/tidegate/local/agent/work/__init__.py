"""The doing: prepares, starts, watches and stops what `pod` decides, one pod at a time.

Only this package talks to runners, and only `pods` writes pods' status.
"""
