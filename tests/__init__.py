"""The tests: one folder per band of the product, plus the suites that compare it with a real Kubernetes."""
