"""What users state about rows, in files."""
