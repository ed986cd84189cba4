"""Yu et al. (2015), run again."""
