"""HybridBackend's API on this wheel: `import hybridbackend.tensorflow as hb`. What is there: docs/hybridbackend.md."""
