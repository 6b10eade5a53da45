"""The simulator: virtual time, worlds of pods and queues, Scenario files, and the laws checked on every Plan.

    scenario/  files ─► what is to happen        world/  nodes, queues, workloads and their pods; carries Plans out
    load/      random and recorded arrivals      laws/   what must hold of every Plan
    results/   what came of it: measures, picture
    simulation.py  the circle: what is due ─► snapshot ─► plan ─► laws ─► carried out, until nothing changes

It drives the same `plan` as production and decides nothing itself. Time is whole seconds from the beginning, the
planner's own unit; the only chance is a seeded generator that is handed in. No wall clock, threads or network here.
"""
