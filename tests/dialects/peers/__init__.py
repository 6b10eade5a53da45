"""What is rendered, asked of the other schedulers' own programs, built from their modules.

They are not part of the control plane that every run needs: a program that is not built leaves its tests out, with the
command that builds it as the reason. Nothing here knows what the answer should be; it only asks.
"""
