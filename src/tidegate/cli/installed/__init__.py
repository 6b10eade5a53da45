"""Commands for those who run Tidegate on a Kubernetes: the operator, and putting it there and taking it away."""
