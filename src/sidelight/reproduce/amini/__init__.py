"""Amini's lecture, run again."""
