"""Context, options and what says which build this is."""
