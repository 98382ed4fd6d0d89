"""Tables of what was measured, beside the figures of the paper."""
