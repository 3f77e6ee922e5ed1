"""Input pipelines: elements of a list, one after another."""

from tensorflow.contrib.input_pipeline.input_pipeline_ops import obtain_next

__all__ = ["obtain_next"]
