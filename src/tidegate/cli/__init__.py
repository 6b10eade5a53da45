"""The command line: a face of what the other rooms do. It decides nothing."""
