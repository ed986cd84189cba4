"""What a fit leaves behind."""
