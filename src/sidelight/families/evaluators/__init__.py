"""Log densities and sufficient statistics of blocks of rows, at fixed parameters; one way to compute them per file."""
