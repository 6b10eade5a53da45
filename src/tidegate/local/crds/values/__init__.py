"""What a schema does to a value: which fields stay, what is filled in, and what is wrong with it.

Nothing here knows of requests, of storage or of the definition a schema came from.
"""
