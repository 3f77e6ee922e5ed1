"""Reading columnar files (Parquet, ORC) as datasets of batches.

`parquet_dataset` holds the public datasets, `dataframe` what their elements are made of, `schema` the types of a file. The dataset is
C++ (`core/kernels/columnar_dataset_op.cc`); it asks `reader` for each file, through `reader_callbacks`, and decodes its batches without
Python.
"""


def install() -> None:
    """Lets the kernels of this process read files. pyarrow is not imported before the first one is read."""
    from tensorflow.deeprec.data import reader_callbacks

    reader_callbacks.register()
