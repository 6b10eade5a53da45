"""Every kind of the table, with its own project's definition where that can be had, and its operator played."""
