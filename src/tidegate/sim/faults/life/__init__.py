"""What happens whether or not anybody watches: nodes, pods and people. Their wire has no faults."""
