"""What the components share."""
