"""What all mixture estimators share: one fit skeleton with hooks."""
