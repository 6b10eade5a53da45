"""How kind files say where something is, how many there are, and what to ask: paths, counts, questions, new objects."""
