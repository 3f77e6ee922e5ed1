"""Files that belong together, written beside the older ones that they then replace."""

import os


def partial(path: str) -> str:
    """Where a file is written first."""
    return f"{path}.partial"


def commit(paths, needed) -> None:
    """Puts files from where `partial` says into the places of older ones.

    Readers need all of `needed`, some of `paths`: the older ones of these go first and the new ones come last. So a commit that is cut
    short leaves too few files, and none of two times.

    Raises:
      OSError: a file cannot be replaced.
    """
    for path in needed:
        if os.path.exists(path):
            os.remove(path)
    for path in [*(path for path in paths if path not in needed), *needed]:
        os.replace(partial(path), path)


def discard(paths) -> None:
    """Removes what has been written at `partial`."""
    for path in map(partial, paths):
        if os.path.exists(path):
            os.remove(path)
