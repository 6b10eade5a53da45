"""What a Plan decided, as the statuses people read. Pure: `now` is an argument."""
