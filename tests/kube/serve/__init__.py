"""What Tidegate serves: certificates, reviews and pages."""
