"""The doors: what is judged before it is stored. Who asks is known here and nowhere else.

    door          applications are held, single pods gated, or refused with what to do
    owners        whose a pod says it is, as the server has them
    update        applications that are changed stay within what was granted
    tree          ClusterQueues that would be their own ancestors
    judge         all of these, for a server that asks in its own process
    hooks         webhook configurations and the policy beside them, from the table of kinds; pure
    reviewing     the same decisions as answers to an API server
    dialect       objects rendered for another scheduler, by namespace
    adopting      what was made beside them is given to them, or taken away
    keeping       those configurations, put back whenever somebody changes them

Decisions are made from what `sight` follows, which every replica does, not only the one that leads.
"""
