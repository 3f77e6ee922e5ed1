"""The ops of the library as functions, under the name of the module that DeepRec generated for those of its tables."""

from tensorflow.deeprec import library


def __getattr__(name: str):
    return getattr(library.ops(), name)


def __dir__():
    return dir(library.ops())
