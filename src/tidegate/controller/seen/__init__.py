"""Objects of the API as the scheduler sees them. Pure: no clock, no I/O; `now` is in the objects or not needed."""
