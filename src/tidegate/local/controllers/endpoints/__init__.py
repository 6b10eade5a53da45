"""Endpoints and EndpointSlices of Services with a selector: by these, service names resolve to pods."""
