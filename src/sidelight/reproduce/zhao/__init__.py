"""Zhao and Miller, run again."""
