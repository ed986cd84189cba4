"""The folder that a fit writes."""
