"""The hands: watches, plans, and writes down what was decided. Nothing is decided here that the scheduler decides.

    informers ─► cache ─► seen ─► Planner ─► told ─► statuses of Workloads and queues
                            ▲                  └───► applications: let go, held again, grown, shrunk
                            └── what came of it comes back as events

`operator` is the circle; `seen` turns objects into what the scheduler sees and `told` a Plan into statuses, both pure;
`applications` writes to other people's objects; `quotas` keeps Queues and ResourceQuotas together; `doors` judge what
is created; `replica` is one process of several, of which one leads. A Workload's status is the only memory: whoever
starts anew goes on from there. Must not know the embedded server: it talks to any API server by `tidegate.kube`.
"""
