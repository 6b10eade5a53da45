"""Seeded faults: the real operator on the real embedded server, with time, network and people made up from one seed.

    people, pods, nodes ─► server ◄─ network ◄─ operators      `life`, `server`, `network`, `operators`
                             │         └ loses, delays, doubles, refuses, cuts
                             └─► every commit judged            `laws`

Nothing of the product is replaced but the clock and the wire. The event loop's time jumps from one timer to the next,
so that minutes pass in milliseconds and the same seed is the same history. Replay one with
`python -m tidegate.sim.faults SEED`.
"""

from tidegate.sim.faults.playing import Broken, History, busy_hour, play

__all__ = ["Broken", "History", "busy_hour", "play"]
