"""Li, Ying and Campbell, run again."""
