"""What is measured: names, labels, and where the numbers come from. Nothing is decided here.

Events (admitted, evicted, grown …) are counted as they are told; how things stand is read from the cache when somebody
asks for the page, so that a cycle pays nothing for it. Names are Kueue's, with our prefix, where the meaning is the
same.
"""
