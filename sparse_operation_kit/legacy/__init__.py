"""The older of SparseOperationKit's two APIs: Keras layers whose tables are spread over replicas."""
