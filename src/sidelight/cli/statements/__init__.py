"""Labels and links in files."""
