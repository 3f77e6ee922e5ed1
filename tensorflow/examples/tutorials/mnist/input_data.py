"""Reads MNIST from the four files of the original distribution (idx format, gzipped).

The format (http://yann.lecun.com/exdb/mnist): big-endian int32 magic number, 2051 for images and 2049 for labels; the
count; for images rows and columns; then one byte for each pixel or label.
"""

import collections
import gzip
import os
import urllib.error
import urllib.request

import numpy as np

from tensorflow.python.framework import dtypes, random_seed
from tensorflow.python.platform import gfile

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_IMAGES, _LABELS = 2051, 2049
_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)

Datasets = _Datasets = collections.namedtuple("_Datasets", ["train", "validation", "test"])


def _read(f, magic: int, header: int) -> np.ndarray:
    """The array in an open idx.gz file whose magic number must be `magic` and that has `header` dimensions."""
    name = getattr(f, "name", "file")
    with gzip.GzipFile(fileobj=f) as stream:
        data = stream.read()
    found = int.from_bytes(data[:4], "big")
    if len(data) < 4 * (1 + header) or found != magic:
        raise ValueError(f"{name}: magic number must be {magic}, got {found}")
    shape = np.frombuffer(data, ">u4", header, 4).astype(int)
    values = np.frombuffer(data, np.uint8, -1, 4 * (1 + header))
    if values.size < shape.prod():
        raise ValueError(f"{name}: {shape.prod()} bytes expected after the header, got {values.size}")
    return values[: shape.prod()].reshape(shape)


def extract_images(f) -> np.ndarray:
    """uint8 [n, rows, columns, 1] from an open gzipped file of images.

    Raises:
      ValueError: not such a file, or it is cut short.
    """
    return _read(f, _IMAGES, 3)[..., np.newaxis]


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """float64 [n, num_classes] with a one at each label."""
    return np.eye(num_classes)[labels_dense]


def extract_labels(f, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """uint8 [n] from an open gzipped file of labels; with one_hot float64 [n, num_classes].

    Raises:
      ValueError: not such a file, or it is cut short.
    """
    labels = _read(f, _LABELS, 1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


class DataSet:
    """Images and labels, handed out in batches.

    Args:
      images: uint8 [n, rows, columns, 1].
      labels: [n] or [n, classes].
      fake_data: batches are constants, for tests.
      one_hot: form of the fake labels.
      dtype: float32: pixels are scaled from [0, 255] to [0, 1]; uint8: left.
      reshape: whether images become [n, rows * columns].
      seed: of the order; the graph's seed counts as with an op.
    """

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None):
        seed1, seed2 = random_seed.get_seed(seed)
        np.random.seed(seed1 if seed is None else seed2)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"dtype must be uint8 or float32, got {dtype!r}")
        self.one_hot = one_hot
        self._fake = fake_data
        self._epochs_completed = self._index_in_epoch = 0
        if fake_data:
            self._num_examples = 10000
            self._images = self._labels = None
            return
        if images.shape[0] != labels.shape[0]:
            raise ValueError(f"{images.shape[0]} images, but {labels.shape[0]} labels")
        self._num_examples = images.shape[0]
        if reshape:
            if images.shape[3] != 1:
                raise ValueError(f"images must have one channel to be reshaped, got shape {images.shape}")
            images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
        if dtype == dtypes.float32:
            images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels

    images = property(lambda self: self._images)
    labels = property(lambda self: self._labels)
    num_examples = property(lambda self: self._num_examples)
    epochs_completed = property(lambda self: self._epochs_completed)

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next images and labels; one that crosses the end of an epoch takes its rest from the next one."""
        if fake_data or self._fake:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        end = start + batch_size
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        rest = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end - self._num_examples
        new = self._images[: self._index_in_epoch], self._labels[: self._index_in_epoch]
        return tuple(np.concatenate(parts) for parts in zip(rest, new))

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


_DataSet = DataSet


def _maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Path of the file in the folder, fetched from source_url where it is missing.

    Raises:
      OSError: it is missing and cannot be fetched.
    """
    gfile.MakeDirs(work_directory)
    path = os.path.join(work_directory, filename)
    if not gfile.Exists(path):
        partial = f"{path}.partial"
        try:
            urllib.request.urlretrieve(source_url + filename, partial)
        except (urllib.error.URLError, OSError) as error:
            raise OSError(f"{path} is missing, and {source_url}{filename} cannot be read: {error}") from error
        os.replace(partial, path)
    return path


def read_data_sets(
    train_dir,
    fake_data=False,
    one_hot=False,
    dtype=dtypes.float32,
    reshape=True,
    validation_size=5000,
    seed=None,
    source_url=DEFAULT_SOURCE_URL,
):
    """MNIST as (train, validation, test), each a DataSet.

    Args:
      train_dir: folder of the four files; those that are missing are fetched from source_url.
      fake_data, one_hot, dtype, reshape, seed: see DataSet.
      validation_size: how many of the first training images are the validation set.
      source_url: ends with a slash.

    Raises:
      ValueError: a damaged file, or a validation_size outside of [0, training images]. OSError: a file that is missing.
    """
    settings = dict(dtype=dtype, reshape=reshape, seed=seed)
    if fake_data:
        return _Datasets(*(DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed) for _ in range(3)))
    arrays = []
    for name in _FILES:
        with gfile.Open(_maybe_download(name, train_dir, source_url or DEFAULT_SOURCE_URL), "rb") as f:
            arrays.append(extract_images(f) if "images" in name else extract_labels(f, one_hot=one_hot))
    images, labels, test_images, test_labels = arrays
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"validation_size must be between 0 and {len(images)}, got {validation_size}")
    cut = validation_size
    return _Datasets(
        train=DataSet(images[cut:], labels[cut:], **settings),
        validation=DataSet(images[:cut], labels[:cut], **settings),
        test=DataSet(test_images, test_labels, **settings),
    )


def load_mnist(train_dir="MNIST-data"):
    """read_data_sets with its defaults."""
    return read_data_sets(train_dir)
