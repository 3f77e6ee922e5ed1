"""Fixtures of the tests of EmbeddingVariables: the ops without the Python that users see."""

import contextlib

import numpy as np
import pytest


class RawTable:
    """An EmbeddingVariable with Adagrad's slot in a graph and session of its own, driven through its ops.

    Args:
      part, parts: which partition this is to be, when it is restored, of how many.
      options: of InitializeKvVariableV2Op.
    """

    def __init__(
        self,
        dim=4,
        key_dtype="int64",
        dtype="float32",
        part=0,
        parts=1,
        pool=None,
        slot_default=0.1,
        initialize=True,
        for_restore=False,
        **options,
    ):
        import tensorflow as tf
        from tensorflow.deeprec import library

        self.tf, self.ops = tf, library.ops()
        self.dim, self.key_dtype, self.dtype = dim, tf.as_dtype(key_dtype), tf.as_dtype(dtype)
        self.part, self.parts = part, parts
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.session = tf.Session(graph=self.graph)
            shape = dict(dtype=self.dtype, shape=[dim], Tkeys=self.key_dtype)
            self.variable = self.ops.kv_var_handle_op(shared_name="var", **shape)
            self.slot = self.ops.kv_var_handle_op(shared_name="var/Adagrad", **shape)
            pool = np.zeros([1, dim]) if pool is None else pool
            empty = tf.constant(0, self.key_dtype)
            self.init_variable = self.ops.initialize_kv_variable_v2_op(
                self.variable, self.variable, tf.constant(pool, self.dtype), empty, for_restore=for_restore, **options
            )
            self.init_slot = self.ops.initialize_kv_variable_v2_op(
                self.slot,
                self.variable,
                tf.fill([1, dim], tf.cast(slot_default, self.dtype)),
                empty,
                for_restore=for_restore,
                **options,
            )
            if initialize:
                self.session.run(self.init_variable)
                self.session.run(self.init_slot)

    def run(self, make):
        """Runs what `make(self)` builds."""
        with self.graph.as_default():
            return self.session.run(make(self))

    def step(self, keys, grad=None, step=0, lr=0.5):
        """One Adagrad step; gradients are random unless given."""
        tf = self.tf
        keys = np.asarray(keys)
        if grad is None:
            grad = np.random.RandomState(len(keys) + step).randn(len(keys), self.dim)
        self.run(
            lambda _: self.ops.kv_resource_sparse_apply_adagrad(
                self.variable,
                self.slot,
                tf.constant(lr, self.dtype),
                tf.constant(grad, self.dtype),
                tf.constant(keys, self.key_dtype),
                tf.constant(step, tf.int64),
            )
        )

    def lookup(self, keys):
        tf = self.tf
        return self.run(
            lambda _: self.ops.kv_resource_gather(
                self.variable, tf.constant(keys, self.key_dtype), tf.constant(0, self.dtype)
            )
        )

    def frequencies(self, keys):
        return self.run(lambda _: self.ops.ev_get_frequency(self.variable, self.tf.constant(keys, self.key_dtype)))

    def versions(self, keys):
        return self.run(lambda _: self.ops.ev_get_version(self.variable, self.tf.constant(keys, self.key_dtype)))

    def size(self):
        return int(self.run(lambda _: self.ops.kv_variable_shape(self.variable))[0])

    def content(self, slot=False):
        """{key: row}."""
        keys, values, _, _ = self.run(
            lambda _: self.ops.kv_resource_export(
                self.slot if slot else self.variable, Tkeys=self.key_dtype, dtype=self.dtype
            )
        )
        return dict(zip(keys.tolist(), values.astype(np.float64).tolist()))

    def save(self, prefix, names=("var", "var/Adagrad"), step=-1, tensors=(), slices=None):
        """Saves the variable and its slot as `names`, and `tensors`, pairs of name and value."""
        tf = self.tf
        self.run(
            lambda _: self.ops.save_v3(
                prefix,
                tf.constant([n for n, _ in tensors], tf.string),
                tf.constant(slices or [""] * len(tensors), tf.string),
                list(names),
                [self.variable, self.slot][: len(names)],
                tf.constant(step, tf.int64),
                [tf.constant(v) for _, v in tensors],
                ev_key_types=[self.key_dtype] * len(names),
                has_ev=True,
            )
        )

    def restore(self, prefix, names="var", slot_names="var/Adagrad", reset_version=False):
        """Imports the variable, then the slot (None: not)."""
        for handle, name in ((self.variable, names), (self.slot, slot_names)):
            if name is not None:
                self.run(
                    lambda _, h=handle, n=name: self.ops.kv_resource_import_v3(
                        prefix,
                        h,
                        n,
                        self.tf.constant(0, self.key_dtype),
                        dtype=self.dtype,
                        partition_id=self.part,
                        partition_num=self.parts,
                        reset_version=reset_version,
                    )
                )

    def is_initialized(self, slot=False):
        return bool(self.run(lambda _: self.ops.kv_var_is_initialized_op(self.slot if slot else self.variable)))


@pytest.fixture
def raw_table():
    """Makes RawTables, see there, and closes their sessions."""
    with contextlib.ExitStack() as stack:

        def make(*args, **kwargs):
            table = RawTable(*args, **kwargs)
            stack.callback(table.session.close)
            return table

        yield make
