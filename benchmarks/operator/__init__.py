"""The operator on a real API server and on the embedded one, and Kueue on the real one: how fast they admit, and what
that costs.

    python -m benchmarks.operator            # 15,000 Workloads on each (half an hour)
    python -m benchmarks.operator --quick    # 1,500 (about 5 minutes)
    python -m benchmarks.operator --columns real,kueue --only mix    # the two beside one another alone

`mix` is Kueue's own baseline: 5 cohorts of 6 ClusterQueues, each with 350 small, 100 medium and 50 large Workloads
that come at a steady pace. `runner` plays the rest of the world in a process of its own, as Kueue's does, for either of
them: it creates them, and says that they have finished so long after they were admitted. With no overhead at all the
mix takes 66 s, since the quota has no room for more at a time; the table shows how many times as long it took. How fast
the operator can be is measured apart, where everything fits: `burst`. What a server can take at most, `limit`, is the
same writes by a client that decides nothing; admissions are shown as a part of it too: of one write each where
everything fits, of the four of a whole life in the mix. CPU times are shown too, since machines are seldom idle.

The column of Kueue needs `python tools/build_kube.py kueue`; how both are set is told in `sides`. `words` is what the
runner must know of each, said in `ours` and `kueue`.
"""
