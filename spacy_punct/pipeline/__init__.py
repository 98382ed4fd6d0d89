"""The spaCy side: component, reader, scorer and attributes."""
