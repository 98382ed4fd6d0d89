"""What can be done with a trained model beyond restoring: to look into it."""
