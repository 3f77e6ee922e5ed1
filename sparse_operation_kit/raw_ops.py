"""The raw ops that programs call by name, as functions on CPU tensors.

Upstream's are kernels of a GPU library. Those whose meaning does not hang on the buffers of that library are here.
"""

import tensorflow as tf


def dist_select(indices, num_splits, name=None):
    """Groups keys by the rank that holds them.

    Args:
      indices: `[n]` int32 or int64 keys.
      num_splits: number of ranks.
      name: name of the ops.

    Returns:
      `(output [n], order [n] int32, splits [num_splits] int32)`: output[i] = indices[order[i]] stands in the group key mod
      num_splits, groups and keys within them in their order; splits says how many each group has.
    """
    if num_splits < 1:
        raise ValueError(f"num_splits must be at least 1, got {num_splits}")
    with tf.name_scope(name or "DistSelect"):
        indices = tf.convert_to_tensor(indices)
        owners = tf.cast(tf.math.floormod(indices, tf.cast(num_splits, indices.dtype)), tf.int32)
        parts = tf.dynamic_partition(tf.range(tf.size(indices)), owners, num_splits)
        order = tf.concat(parts, 0)
        return tf.gather(indices, order), order, tf.stack([tf.size(part) for part in parts])


def reorder(embedding, indices, name=None):
    """Undoes `dist_select`: out[indices[i]] = embedding[i], for `[n, dim]` and `[n]` a permutation."""
    with tf.name_scope(name or "Reorder"):
        return tf.gather(embedding, tf.math.invert_permutation(tf.cast(indices, tf.int32)))


def gather_ex(grads, indices, name=None):
    """out[i] = grads[indices[i]], for `[m, dim]` and `[n]`."""
    with tf.name_scope(name or "GatherEx"):
        return tf.gather(grads, indices)


def group_lookup(handles, indices, name=None):
    """The rows of several tables of this rank: of each of `handles`, variables, `[n_i, dim_i]` at rows or keys `[n_i]`."""
    if len(handles) != len(indices):
        raise ValueError(f"handles and indices must be of one length, got {len(handles)} and {len(indices)}")
    with tf.name_scope(name or "GroupLookup"):
        return [variable.sparse_read(rows) for variable, rows in zip(handles, indices)]


def hotness_calculate(row_length_buffer, num_gpus, num_lookups, name=None):
    """The largest row length of each lookup, `[num_lookups]` int32.

    Args:
      row_length_buffer: row lengths of num_gpus ranks, of each those of all lookups, of each those of the rank's samples.
      num_gpus, num_lookups: how many there are.
      name: name of the ops.
    """
    with tf.name_scope(name or "HotnessCalculate"):
        lengths = tf.reshape(row_length_buffer, [num_gpus, num_lookups, -1])
        return tf.cast(tf.reduce_max(lengths, axis=[0, 2]), tf.int32)


def dummy_var_shape(resource, out_type=tf.int32, name=None):
    """`[rows, dim]` of a DynamicVariable at this moment."""
    with tf.name_scope(name or "DummyVarShape"):
        return tf.cast(resource.size, out_type)


def dummy_var_sparse_read(resource, indices, name=None):
    """The rows of keys of a DynamicVariable, which are inserted if they are not there."""
    return resource.sparse_read(indices, name=name)


def dummy_var_sparse_read_evict(resource, indices, name=None):
    """`(rows, evicted keys, evicted rows)`; see `sok.sparse_read_and_evict`."""
    from sparse_operation_kit import table_access

    with tf.name_scope(name or "DummyVarSparseReadEvict"):
        return table_access.sparse_read_and_evict(resource, indices)


def dummy_var_scatter_add(resource, indices, updates, name=None):
    """row += update, for keys `[n]` and `[n, dim]` of a DynamicVariable."""
    return resource.scatter_add(tf.IndexedSlices(updates, indices), name=name)


def dummy_var_scatter_update(resource, indices, updates, name=None):
    """row = update, for keys `[n]` and `[n, dim]` of a DynamicVariable."""
    return resource.scatter_update(tf.IndexedSlices(updates, indices), name=name)


def dummy_var_assign(resource, indices, values, name=None):
    """As `dummy_var_scatter_update`."""
    return dummy_var_scatter_update(resource, indices, values, name=name)


def dummy_var_export(resource, name=None):
    """`(keys [n], rows [n, dim])` of a DynamicVariable, keys ascending."""
    with tf.name_scope(name or "DummyVarExport"):
        return resource.export_with_stamps()[:2]


def dummy_var_export_if(resource, threshold, name=None):
    """As `dummy_var_export`, of the rows used or set after `threshold`, nanoseconds since 1970."""
    with tf.name_scope(name or "DummyVarExportIf"):
        keys, rows, stamps = resource.export_with_stamps()
        later = stamps > tf.cast(threshold, tf.int64)
        return tf.boolean_mask(keys, later), tf.boolean_mask(rows, later)
