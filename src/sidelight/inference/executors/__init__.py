"""Who runs the chunks of a pass."""
