"""Lets volumes and claims go once nobody uses them: admission put a finalizer on each, which is taken off here."""
