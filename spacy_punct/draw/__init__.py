"""Pictures of what the model sees."""
