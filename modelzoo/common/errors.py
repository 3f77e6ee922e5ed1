"""The one exception that means "the user can mend this"."""


class InputError(Exception):
    """Wrong flag, file or row. Shown as one line without a traceback; exit code 2."""
