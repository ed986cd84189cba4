"""Draw labels and links from a ground truth, for experiments."""
