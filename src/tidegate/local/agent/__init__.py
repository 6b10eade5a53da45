"""The node agent: registers one Node, binds pods to it and runs them as processes of this machine.

It talks to the API server only through `tidegate.kube`, so a real cluster and the embedded server look the same to it.
Inside: `pod` decides (pure), `runner` is the small process that keeps one pod alive without the agent, `sandbox` makes
what a pod sees, `serve` answers for logs and exec. Nothing here knows queues, Jobs or any controller.
"""
