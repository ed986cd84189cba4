"""Tables in files, and how they become what a model takes."""
