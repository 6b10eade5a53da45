"""What came of a simulation: how things stood at every moment, measures over all of it, and a picture."""
