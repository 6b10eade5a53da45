"""What a pod sees: its image, environment, volumes, address and names.

Each module turns a part of the pod's spec into data or files of the pod's own folder. Nothing here starts a process or
decides a pod's fate; what is missing is said by `Missing` or `Unrunnable`, with words for the user.
"""
