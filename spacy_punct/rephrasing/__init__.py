"""Edits of underlying trees."""
