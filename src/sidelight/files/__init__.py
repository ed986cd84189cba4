"""Writing files and folders whole or not at all."""
