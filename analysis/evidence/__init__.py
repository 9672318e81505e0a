"""Curated public figures in, traced and graded quantities out."""
