"""What a platform means: who submits what, and how jobs of a type are to be treated. No scheduler's words."""
