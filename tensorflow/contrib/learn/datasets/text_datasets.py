"""The DBpedia texts, from local files."""

import os

from tensorflow.contrib.learn.datasets import base
from tensorflow.python.platform import gfile

import numpy as np


def maybe_download_dbpedia(data_dir):
    """Checks that the files are there.

    Raises:
      FileNotFoundError: if one is missing; this package downloads nothing.
    """
    for name in ("train.csv", "test.csv"):
        path = os.path.join(data_dir, "dbpedia_csv", name)
        if not gfile.Exists(path):
            raise FileNotFoundError(
                f"{path} is missing: unpack dbpedia_csv.tar.gz (Zhang et al., 2015) into {data_dir}."
            )


def load_dbpedia(size="small", test_with_fake_data=False):
    """DBpedia from the folder "dbpedia_data".

    Args:
      size: "small" reads every 1000th line of the training data, and every 100th of the test data; anything else, all.
      test_with_fake_data: must be False: there are no fake data in this package.

    Returns:
      `Datasets`, without a validation part.
    """
    if test_with_fake_data:
        raise ValueError("test_with_fake_data is not supported: the fake data are not part of this package")
    data_dir = "dbpedia_data"
    maybe_download_dbpedia(data_dir)
    paths = [os.path.join(data_dir, "dbpedia_csv", name) for name in ("train.csv", "test.csv")]
    if size == "small":
        for path, ratio in zip(paths, (1000, 100)):
            base.shrink_csv(path, ratio)
        paths = [path.replace(".csv", "_small.csv") for path in paths]
    train, test = (base.load_csv_without_header(path, np.int32, str, target_column=0) for path in paths)
    return base.Datasets(train=train, validation=None, test=test)
