"""How what is known about the rows enters the E-step. One way per file."""
