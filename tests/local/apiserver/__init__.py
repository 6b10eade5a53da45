"""Properties of what every request goes through; whole answers are compared with Kubernetes in `tests/differential`."""
