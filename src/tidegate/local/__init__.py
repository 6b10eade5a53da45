"""The laptop: Kubernetes' API on one machine, and an agent that runs pods as processes.

It is for one machine, and never becomes a distributed store. No part of it knows queues: like any Kubernetes, it keeps
objects and runs pods, and whatever schedules by policy talks to it through the API.
"""
