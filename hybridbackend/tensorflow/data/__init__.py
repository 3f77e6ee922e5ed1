"""`hb.data`: datasets of columnar files, and what is done with their batches."""

from hybridbackend.tensorflow.data.deduplication import deduplicate
from hybridbackend.tensorflow.data.iterators import (
    Iterator,
    make_initializable_iterator,
    make_iterator,
    make_one_shot_iterator,
)
from hybridbackend.tensorflow.data.sync_replicas import SyncReplicasDataset
from hybridbackend.tensorflow.data.tabular import Dataset, TabularDataset
from hybridbackend.tensorflow.data.transformations import parse, populate_defaults
from tensorflow.deeprec.data.dataframe import DataFrame, to_sparse, unbatch_and_to_sparse
from tensorflow.deeprec.data.parquet_dataset import ParquetDataset, read_parquet
from tensorflow.deeprec.data.reader_callbacks import skipped
from tensorflow.deeprec.data.rebatch import RebatchDataset, rebatch, rectify

__all__ = (
    "DataFrame",
    "Dataset",
    "Iterator",
    "ParquetDataset",
    "RebatchDataset",
    "SyncReplicasDataset",
    "TabularDataset",
    "deduplicate",
    "make_initializable_iterator",
    "make_iterator",
    "make_one_shot_iterator",
    "parse",
    "populate_defaults",
    "read_parquet",
    "rebatch",
    "rectify",
    "skipped",
    "to_sparse",
    "unbatch_and_to_sparse",
)
