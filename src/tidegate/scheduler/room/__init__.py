"""Who gives way: what may be taken from whom, by which right, and what must go back although nobody asks.

`books` and `draft` keep count, `rights` says what an ask may take, `victims` from whom first, `hold` sets room aside
for those who lost patience, `giveback` takes what nobody may keep.
"""
