"""Scenario files: read with every fault named by file, line and field; played in virtual time; judged.

source.py  text ─► values with the line of each       reading.py  documents ─► Scripts, every name checked
objects.py manifests ─► what a world is made of       playing.py  a Script ─► a Result
"""
