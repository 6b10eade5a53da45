"""What is known of the server, and what of it changed. Events only mark; who looks, and when, is the operator's."""
