"""What makes a cluster, in numbers and words, without drawing."""
