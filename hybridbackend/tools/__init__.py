"""Commands of HybridBackend 0.5."""
