"""`dump`, `load` and `incremental_model_dump`."""

import datetime
import os
import uuid

import numpy as np
import tensorflow as tf

from sparse_operation_kit import communication, evaluation, files, partial_files, placement, table_access
from sparse_operation_kit.dynamic_variable import DynamicVariable
from sparse_operation_kit.optimizers import SGD, OptimizerWrapper
from sparse_operation_kit.variables import _Sharded

# Of a rank's rows that go to rank 0 in a round; rank 0 writes the rounds one after the other, in each rank after rank.
ROUND_BYTES = 64 * 2**20
# Attribute of a graph: the ops of `load`, by the id of what they set.
_SET_OPS = "_sok_set_ops"
_OPTIMIZERS = ("SGD", "Adamax", "Adadelta", "Adagrad", "Ftrl", "Adam")


def _tables(variables, argument):
    variables = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    for variable in variables:
        if not isinstance(variable, (_Sharded, DynamicVariable)):
            raise TypeError(f"{argument} must be sok.Variable or sok.DynamicVariable, got {type(variable).__name__}")
    names = [files.table_name(variable.name) for variable in variables]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(
            f"{argument} must have different names in files, got {', '.join(sorted(twice))} more than once"
        )
    return variables


def _inner(optimizer):
    """The optimizer in a wrapper."""
    return getattr(optimizer, "optimizer", optimizer)


def _optimizer_name(optimizer) -> str:
    name = type(_inner(optimizer)).__name__
    found = [known for known in _OPTIMIZERS if known in name]
    if not found:
        raise ValueError(f"optimizer must be one of {', '.join(_OPTIMIZERS)}, got {name}")
    return found[-1]


def _wrapped(optimizer):
    return optimizer if isinstance(optimizer, OptimizerWrapper) else OptimizerWrapper(optimizer)


def _slots(variable, optimizer) -> dict:
    """{name: slot} of a table: DynamicVariables, or ordinary variables of the local shape."""
    if optimizer is None or isinstance(optimizer, SGD):
        return {}
    optimizer = _wrapped(optimizer)
    found = {name: optimizer.get_slot(variable, name) for name in optimizer.get_slot_names()}
    return {name: slot for name, slot in found.items() if slot is not None}


def _slot_path(stem, optimizer, slot_name):
    return f"{stem}-{_optimizer_name(optimizer)}-{slot_name}"


def dump(path, dump_vars, optimizer=None):
    """Writes tables, and the slots of their optimizer, into files of a folder. All ranks must call it.

    Of each table `<name>-key` and `<name>-weight`, and `<name>-<optimizer>-<slot>`, in the format of `files`. They hold the rows of all
    ranks; any number of ranks can load them. They replace earlier ones when all are whole: a dump that is cut short leaves those, or if
    it was about to replace them, too few to load. `load` refuses files of a table that are of several dumps.

    Args:
      path: folder, made by rank 0, which writes the files.
      dump_vars: sok.Variable or DynamicVariable, or a list of them.
      optimizer: OptimizerWrapper or legacy Keras optimizer whose slots are written too, or None.

    Raises:
      RuntimeError: in a TF1 graph without a default session.
      TypeError, ValueError: a table or an optimizer that there are no files for; two tables of one name.
      OSError: (on all ranks) rank 0 could not make the folder or write a file.
    """
    variables = _tables(dump_vars, "dump_vars")
    if optimizer is not None:
        _optimizer_name(optimizer)
    evaluation.on_first_rank(lambda: os.makedirs(path, exist_ok=True))
    paths = []
    try:
        _write_tables(path, variables, optimizer, paths)
    except OSError:
        if communication.rank() == 0:
            partial_files.discard(paths)
        raise
    # What fails here leaves the partial files: they may be all that there is.
    evaluation.on_first_rank(lambda: partial_files.commit(paths, [p for p in paths if p.endswith("-key")]))


def _write_tables(folder, variables, optimizer, paths):
    """Writes the files of tables as partial ones, and adds their paths to `paths`."""

    def write(path, *args):
        paths.append(path)
        _write(path, *args)

    for variable in variables:
        stem = os.path.join(folder, files.table_name(variable.name))
        if optimizer is not None:
            _make_slots(optimizer, variable)
        keys, rows = evaluation.values(table_access.export(variable))
        name = variable.name.split(":")[0]
        number = uuid.uuid4().hex
        write(f"{stem}-key", files.KEYS, name, _stored_keys(variable, keys), number)
        write(f"{stem}-weight", files.ROWS, name, rows, number)
        for slot_name, slot in _slots(variable, optimizer).items():
            of_slot = slot.sparse_read_without_eviction(keys) if isinstance(slot, DynamicVariable) else slot
            write(
                _slot_path(stem, optimizer, slot_name),
                files.SLOT,
                slot_name,
                evaluation.values(tf.convert_to_tensor(of_slot)),
                number,
            )


def _stored_keys(variable, keys):
    """Keys as they are in files: localized static tables have uint64."""
    if isinstance(variable, _Sharded) and variable.target_gpu != placement.DISTRIBUTED:
        return keys.astype(np.uint64)
    return keys


def _write(path, kind, name, values, of_dump):
    """Writes a file of all ranks' values as a partial one; returns, on all ranks, when rank 0 has written it, or raises."""
    if values.dtype.name not in files.DTYPES:
        raise ValueError(f"{path}: there is no file format for values of dtype {values.dtype.name}")
    first = communication.rank() == 0
    row_bytes = max(1, values.dtype.itemsize * int(np.prod(values.shape[1:])))
    of_round = max(1, ROUND_BYTES // row_bytes)
    rounds = evaluation.largest(-(-len(values) // of_round))
    parts = (
        part for i in range(rounds) for part in evaluation.to_first_rank(values[i * of_round : (i + 1) * of_round])
    )
    error = None
    if first:
        try:
            _write_parts(path, files.Header(kind, name, values.dtype, of_dump), parts)
        except OSError as failed:
            error = failed
    # The other ranks send what is left, and so does rank 0 behind an error.
    for _ in parts:
        pass
    evaluation.raise_together(error)


def _write_parts(path, header, parts):
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder")
    with open(partial_files.partial(path), "wb") as out:
        out.write(header.pack())
        for part in parts:
            out.write(files.little_endian(part))


def load(path, load_vars, optimizer=None):
    """Reads what `dump` has written, by any number of ranks. All ranks must call it.

    Rows whose keys are in the files are set; a DynamicVariable gets keys that it lacks. Values are cast.

    Args:
      path: folder that all ranks can read.
      load_vars: sok.Variable or DynamicVariable, or a list of them, with the names that they were dumped with.
      optimizer: OptimizerWrapper or legacy Keras optimizer whose slots are read too, or None. Slots that are not there are made.

    Raises:
      FileNotFoundError: a file is missing.
      ValueError: a file is cut short, altered, of another dump than the keys, or does not fit the table, or has more of this rank's
        keys than the table's max_capacity. Nothing of that table has been changed then.
      RuntimeError: in a TF1 graph without a default session.
      TypeError: a table that there are no files for.
    """
    variables = _tables(load_vars, "load_vars")
    for variable in variables:
        if optimizer is not None:
            _make_slots(optimizer, variable)
        stem = os.path.join(path, files.table_name(variable.name))
        slots = _slots(variable, optimizer)
        parts = [(variable, f"{stem}-weight", files.ROWS)]
        parts += [(slot, _slot_path(stem, optimizer, name), files.SLOT) for name, slot in slots.items()]
        _load_table(variable, f"{stem}-key", parts)


def _make_slots(optimizer, variable):
    if not isinstance(optimizer, SGD):
        _wrapped(optimizer).create_slots([variable])


def _load_table(variable, key_path, parts):
    dim = variable.dimension
    key_header = files.read_header(key_path, files.KEYS)
    if key_header.dtype.kind not in "iu":
        raise ValueError(f"{key_path} must hold integers, got {key_header.dtype.name}")
    rows = files.count(key_path, key_header, 1)
    headers = []
    for _, part_path, kind in parts:
        header = files.read_header(part_path, kind)
        found = files.count(part_path, header, dim)
        if found != rows:
            raise ValueError(f"{part_path} has {found} rows of {dim} elements, but {key_path} has {rows} keys")
        if header.dump != key_header.dump:
            raise ValueError(f"{part_path} is of another dump than {key_path}: one was cut short, or had no optimizer")
        headers.append(header)
    of_round = max(1, ROUND_BYTES // (dim * 8))
    _check_keys(variable, key_path, key_header, rows, of_round)
    for begin in range(0, rows, of_round):
        end = min(rows, begin + of_round)
        keys = files.read(key_path, key_header, 1, begin, end)[:, 0]
        own = _own(variable, keys)
        if not own.any():
            continue
        of_keys = keys[own].astype(np.int64)
        for (target, part_path, _), header in zip(parts, headers):
            values = files.read(part_path, header, dim, begin, end)[own]
            _set(variable, target, of_keys, values)


def _check_keys(variable, path, header, rows, of_round):
    begins = range(0, rows, of_round)
    parts = (files.read(path, header, 1, begin, min(rows, begin + of_round))[:, 0] for begin in begins)
    if isinstance(variable, DynamicVariable):
        if header.dtype.itemsize > variable.key_dtype.size:
            raise ValueError(f"{path} has {header.dtype.name} keys, but {variable.name} {variable.key_dtype.name}")
        if variable.max_capacity is None or rows <= variable.max_capacity:
            return
        own = sum(_own(variable, keys).sum() for keys in parts)
        if own > variable.max_capacity:
            raise ValueError(
                f"{path} has {own} keys of this rank, but {variable.name} max_capacity={variable.max_capacity}"
            )
        return
    limit = variable.global_shape.as_list()[0]
    for keys in parts:
        keys = keys.astype(np.int64)
        if ((keys < 0) | (keys >= limit)).any():
            raise ValueError(f"{path} has keys that are not in [0, {limit}), the rows of {variable.name}")


def _own(variable, keys):
    """Which of the keys this rank holds."""
    if variable.target_gpu != placement.DISTRIBUTED:
        return np.full(keys.shape, communication.rank() == variable.target_gpu)
    return keys.astype(np.int64) % communication.num_ranks() == communication.rank()


def _set(variable, target, keys, values):
    # In a graph: one set of ops for all calls, else it would grow with every load.
    dtype = target.dtype.base_dtype.as_numpy_dtype
    if tf.executing_eagerly():
        _set_op(variable, target, tf.constant(keys), tf.constant(values.astype(dtype)))
        return
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, _SET_OPS):
        setattr(graph, _SET_OPS, {})
    made = getattr(graph, _SET_OPS)
    if target._unique_id not in made:  # pylint: disable=protected-access
        of_keys = tf.compat.v1.placeholder(tf.int64, [None])
        of_values = tf.compat.v1.placeholder(target.dtype.base_dtype, [None, variable.dimension])
        made[target._unique_id] = of_keys, of_values, _set_op(variable, target, of_keys, of_values)  # pylint: disable=protected-access
    of_keys, of_values, op = made[target._unique_id]  # pylint: disable=protected-access
    sess = tf.compat.v1.get_default_session()
    if sess is None:
        raise RuntimeError("In a graph load needs a session: call it in `with sess.as_default():`")
    sess.run(op, {of_keys: keys, of_values: values.astype(dtype)})


def _set_op(variable, target, keys, values):
    if isinstance(target, DynamicVariable):
        # Slots lose rows with their table only.
        return (target.insert_within_capacity if target is variable else target.insert)(keys, values)
    return target.scatter_update(tf.IndexedSlices(values, variable.key_map(keys)))


def incremental_model_dump(sok_vars, time_threshold, sess=None):
    """The rows used or set after a moment, of all ranks. All ranks must call it.

    Args:
      sok_vars: DynamicVariable of var_type "hybrid", or a list of them.
      time_threshold: datetime (without a zone: local time), or a list of one for all or one for each.
      sess: in a TF1 graph, the session; None: the default one.

    Returns:
      `(list of keys [n], list of rows [n, dim])`, NumPy arrays, one for each variable.

    Raises:
      TypeError: a variable or time of another kind.
      ValueError: another number of times.
    """
    tables = list(sok_vars) if isinstance(sok_vars, (list, tuple)) else [sok_vars]
    times = list(time_threshold) if isinstance(time_threshold, (list, tuple)) else [time_threshold]
    if len(times) == 1:
        times *= len(tables)
    if len(times) != len(tables):
        raise ValueError(f"time_threshold must be one datetime, or {len(tables)}, got {len(times)}")
    for table, time in zip(tables, times):
        if not isinstance(table, DynamicVariable) or table.backend_type != "hybrid":
            raise TypeError(f'sok_vars must be DynamicVariables of var_type "hybrid", got {table!r}')
        if not isinstance(time, datetime.datetime):
            raise TypeError(f"time_threshold must be datetimes, got {time!r}")
    all_keys, all_rows = [], []
    for table, time in zip(tables, times):
        keys, rows, stamps = evaluation.values(table.export_with_stamps(), sess)
        # In whole microseconds: a float of this size has no nanoseconds.
        since = round(time.timestamp() * 1e6) * 1000
        later = stamps > since
        all_keys.append(evaluation.gathered(keys[later]))
        all_rows.append(evaluation.gathered(rows[later]))
    return all_keys, all_rows
