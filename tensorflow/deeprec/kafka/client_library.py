"""Where librdkafka is: in the confluent-kafka package, or in the system."""

import ctypes
import ctypes.util
import functools
import importlib.util
import pathlib

from tensorflow.deeprec import library


@functools.lru_cache(maxsize=None)
def tell_path() -> str:
    """Tells the C++ library where librdkafka is, and returns it.

    Raises:
      ImportError: there is none.
    """
    path = _in_package() or ctypes.util.find_library("rdkafka")
    if path is None:
        raise ImportError("Kafka is read by librdkafka, which is not found: pip install confluent-kafka")
    set_path = ctypes.CDLL(library.PATH).deeprec_set_kafka_library
    set_path.argtypes, set_path.restype = [ctypes.c_char_p], None
    set_path(path.encode())
    return path


def _in_package() -> str | None:
    """Its copy in confluent-kafka, without importing that."""
    try:
        spec = importlib.util.find_spec("confluent_kafka")
    except (ImportError, ValueError):
        return None
    for folder in (spec and spec.submodule_search_locations) or ():
        found = sorted(pathlib.Path(folder).with_name("confluent_kafka.libs").glob("librdkafka*.so*"))
        if found:
            return str(found[0])
    return None
