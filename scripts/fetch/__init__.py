"""Fetching treebanks."""
