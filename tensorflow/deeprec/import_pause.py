"""The garbage collector does not run while the package is imported."""

import contextlib
import gc


@contextlib.contextmanager
def without_collections():
    """Holds back Python's cyclic garbage collector.

    An import makes about a million objects, nearly all to stay; looking through them again and again took a fifth of its time. Behind
    it they count as old: the next collections, of young objects, pass them by.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # Moves all objects to the oldest generation, without a look at them. What a program has frozen itself stays so.
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()
