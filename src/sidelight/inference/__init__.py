"""The pass over the data, the loop that repeats it, and where it starts. It knows protocols, not models."""
