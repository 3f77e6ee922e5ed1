"""Datasets, their readers, and queues of examples."""
