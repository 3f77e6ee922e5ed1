"""Stack frames of an op as tuples."""

import collections
import linecache

TB_FILENAME, TB_LINENO, TB_FUNCNAME, TB_CODEDICT = range(4)
StackFrame = collections.namedtuple("StackFrame", ["filename", "lineno", "name", "globals", "func_start_lineno"])


def convert_stack(stack, include_func_start_lineno=False):
    """Frames with the text of their lines.

    Args:
      stack: iterable of frames with `filename`, `lineno` and `name`.
      include_func_start_lineno: whether each tuple ends with the line where the function begins.

    Returns:
      A tuple of (filename, lineno, function name, line) tuples.
    """
    result = []
    for frame in stack:
        line = linecache.getline(frame.filename, frame.lineno).strip() or None
        item = (frame.filename, frame.lineno, frame.name, line)
        if include_func_start_lineno:
            item += (getattr(frame, "func_start_lineno", frame.lineno),)
        result.append(item)
    return tuple(result)
