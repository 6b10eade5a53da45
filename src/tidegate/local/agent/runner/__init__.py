"""The runner: one small process per pod that outlives the agent, keeps its logs and remembers its exit codes.

Only the standard library is imported here, and little of it: every running pod pays for each import. The runner starts
what it is told and reports what happened; it decides nothing and never speaks to an API server.
"""
