"""What a cycle costs, as what waits grows: one table, each row against each size.

    python -m benchmarks.scheduler                       # 1,000 to 1,000,000 waiting, 10 to 1,000 queues
    python -m benchmarks.scheduler --pending 1000,10000 --queues 10

A cycle is what the operator would do: tell the planner what changed, and plan. What is measured is the planner alone;
nothing is written anywhere, each size is a process of its own, and garbage is searched as rarely as in the operator.
`per decision` divides by what was decided, and must not grow with what waits.
"""
