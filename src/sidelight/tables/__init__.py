"""What a table is: its columns and their kinds, validation, encoding and a first survey."""
