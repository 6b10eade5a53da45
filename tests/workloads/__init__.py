"""Applications to Workloads and back."""
