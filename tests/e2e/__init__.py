"""Whole programs against whole servers: operators, Spark, and the power cut."""
