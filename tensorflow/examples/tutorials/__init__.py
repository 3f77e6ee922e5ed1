"""Tutorials of 1.15 that programs import."""
