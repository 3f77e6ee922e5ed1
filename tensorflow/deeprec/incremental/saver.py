"""`tf.train.Saver(incremental_save_restore=True)`, and the IncrementalSaver that goes with it.

A full save starts a generation of records before it writes, and has the earlier ones forgotten when the checkpoint and its
state file are there: whatever fails between loses nothing, and an incremental checkpoint has all that changed since the last
full one that succeeded.
"""

import dataclasses
import functools
import os
import re
import threading

from tensorflow.core.protobuf import saver_pb2
from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import saveables as embedding_saveables
from tensorflow.deeprec.embedding.saveables import EmbeddingVariableSaveable
from tensorflow.deeprec.incremental import sparse_rows
from tensorflow.python.checkpoint import checkpoint_management
from tensorflow.python.client import session as session_lib
from tensorflow.python.eager import context
from tensorflow.python.framework import constant_op, errors_impl, ops
from tensorflow.python.lib.io import file_io
from tensorflow.python.ops import array_ops, control_flow_ops, variables
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import py_checkpoint_reader, saver as saver_lib, training_util
from tensorflow.python.training.saving import saveable_object, saveable_object_util
from tensorflow.python.util import compat

# Below the folder of full checkpoints.
SUB_INCR_CKPT_DIR = ".incremental_checkpoint"
BASENAME = "incremental_model.ckpt"
# Tensor of an incremental checkpoint: the name, without its folder, of the full one that it goes with.
FULL_CHECKPOINT = "incremental_full_checkpoint"

# Attribute of a Saver: its IncrementalSaver, once it is built.
_INCREMENTAL = "_deprec_incremental_saver"
# Attribute of a graph.
_RECORDS = "_deprec_incremental_records"


@dataclasses.dataclass
class _Records:
    """What all Savers of a graph share.

    Attributes:
      lock: held while one of them saves.
      full_checkpoint: prefix of the last full checkpoint that succeeded, from which changes are counted; None: none yet, or
        the session was restored since.
    """

    lock: threading.RLock = dataclasses.field(default_factory=threading.RLock)
    full_checkpoint: str | None = None


def _records(graph: ops.Graph) -> _Records:
    if not hasattr(graph, _RECORDS):
        setattr(graph, _RECORDS, _Records())
    return getattr(graph, _RECORDS)


class _IncrementalSaveable(EmbeddingVariableSaveable):
    """An EmbeddingVariable, a part of one, or a slot, of which the changed keys are saved and put back."""

    def restore(self, restored_tensors, restored_shapes):
        del restored_shapes
        source = self.variable.checkpoint_source
        if source is not None and source.always:
            # It is restored from a checkpoint of its own, which these are no changes of.
            return control_flow_ops.no_op()
        return embedding_saveables.import_op(
            self.variable, restored_tensors[0], self.name, after=self.restore_after, incremental=True
        )


class _FullCheckpointSaveable(saveable_object.SaveableObject):
    """Which full checkpoint the changes go with. Nothing is restored from it."""

    def __init__(self):
        self.name_of_full = array_ops.placeholder_with_default(constant_op.constant(""), [])
        spec = saveable_object.SaveSpec(self.name_of_full, "", FULL_CHECKPOINT)
        super().__init__(self.name_of_full, [spec], FULL_CHECKPOINT)

    def value_in(self, prefix):
        return prefix

    def restore(self, restored_tensors, restored_shapes):
        return control_flow_ops.no_op()


class _Builder(saver_lib.BulkSaverBuilder):
    """Makes the ops of an IncrementalSaver."""

    def save_op(self, filename_tensor, saveables):
        embedding = [s for s in saveables if isinstance(s, EmbeddingVariableSaveable)]
        specs = [spec for s in saveables if not isinstance(s, EmbeddingVariableSaveable) for spec in s.specs]
        return library.ops().incr_save(
            filename_tensor,
            [spec.name for spec in specs],
            [spec.slice_spec for spec in specs],
            [s.name for s in embedding],
            [s.variable.handle for s in embedding],
            tensors=[spec.tensor for spec in specs],
            ev_key_types=[s.variable.key_dtype for s in embedding],
        )


def _part_name(saveable, variable) -> str:
    """`var/part_0/Adagrad` for that part of what is saved as `var/Adagrad`."""
    info = variable._save_slice_info  # pylint: disable=protected-access
    return saveable.name if info is None else variable.op.name


class IncrementalSaver(saver_lib.Saver):
    """Saves what has changed since the last full checkpoint of a Saver(incremental_save_restore=True), and puts it back.

    Keys of EmbeddingVariables that were trained, with their slots; other variables whole, or, with
    incremental_include_normal_var, only their changed rows where nothing but sparse updates changes them. The ops that train
    must be in the graph by then, and must not have run yet.
    """

    def __init__(
        self,
        var_list=None,
        sharded=False,
        max_to_keep=5,
        name=None,
        saver_def=None,
        defer_build=False,
        allow_empty=False,
        save_relative_paths=False,
        incremental_include_normal_var=False,
    ):
        """Makes the ops, unless told to wait for `build()`.

        Args:
          var_list: as of a Saver; None: all variables.
          sharded: whether each device writes a file of its own.
          max_to_keep: number of incremental checkpoints that are kept; None or 0: all.
          name: of the ops.
          saver_def: SaverDef of the full Saver. It is not needed; one of another version than V2 is an error.
          defer_build: whether build() will be called.
          allow_empty: whether there may be no variables.
          save_relative_paths: whether the state file has relative paths.
          incremental_include_normal_var: whether of ordinary variables only changed rows are saved.

        Raises:
          ValueError: saver_def is of version V1, or there are no variables.
        """
        if saver_def is not None and saver_def.version != saver_pb2.SaverDef.V2:
            raise ValueError("saver_def must be of version V2 for incremental checkpoints, got V1")
        self._include_normal = bool(incremental_include_normal_var)
        # EmbeddingVariables, without slots, and by their op the others that are saved by rows.
        self._tables, self._sparse = [], {}
        self._scope = name
        self.incr_saver_def = None
        super().__init__(
            var_list,
            sharded=sharded,
            max_to_keep=max_to_keep,
            defer_build=defer_build,
            allow_empty=allow_empty,
            save_relative_paths=save_relative_paths,
        )

    def build(self, filename_tensor=None):
        """Makes the ops; `filename_tensor`, of the full Saver, is for DeepRec's scripts and not needed."""
        del filename_tensor
        super().build()

    def _build(self, checkpoint_path, build_save, build_restore):
        if context.executing_eagerly():
            raise RuntimeError("Incremental checkpoints need graph mode: eager execution is enabled.")
        if self._is_built:
            return
        if self._var_list is None:
            self._var_list = variables._all_saveable_objects()  # pylint: disable=protected-access
        if self._var_list:
            self._make_ops(checkpoint_path)
        super()._build(checkpoint_path, build_save, build_restore)
        self.incr_saver_def = self.saver_def

    def _make_ops(self, checkpoint_path):
        full = _saveables(self._var_list)
        embedding = [saveable.variable for saveable in full if isinstance(saveable, EmbeddingVariableSaveable)]
        primaries = [variable if variable.primary is None else variable.primary for variable in embedding]
        self._tables = list({variable.op: variable for variable in primaries}.values())
        self._builder = _Builder(saver_pb2.SaverDef.V2)
        if self._include_normal:
            self._sparse = sparse_rows.find(
                [variable for variable in map(_variable_of(self._var_list), full) if variable is not None]
            )
        with ops.name_scope(self._scope, "incr_save"):
            saveables = [self._incremental(saveable) for saveable in full]
            self._full_checkpoint = _FullCheckpointSaveable()
            saveables.append(self._full_checkpoint)
            filename = array_ops.placeholder_with_default(checkpoint_path or "model", shape=(), name="filename")
            builder = self._builder
            if self._sharded:
                per_device = builder._GroupByDevices(saveables)
                saved = builder._AddShardedSaveOps(filename, per_device)
                restored = builder._AddShardedRestoreOps(filename, per_device, False, False)
            else:
                saved = builder._AddSaveOps(filename, saveables)
                restored = builder._AddRestoreOps(filename, saveables, False, False)
        graph = ops.get_default_graph()
        self._graph, self._nodes = graph, graph.version
        self.saver_def = saver_pb2.SaverDef(
            filename_tensor_name=filename.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=self._max_to_keep or 0,
            sharded=self._sharded,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
            version=saver_pb2.SaverDef.V2,
        )

    def _incremental(self, saveable):
        if isinstance(saveable, EmbeddingVariableSaveable):
            return _IncrementalSaveable(saveable.variable, saveable.name)
        variable = _variable_of(self._var_list)(saveable)
        sparse = None if variable is None else self._sparse.get(variable.op)
        if sparse is None:
            return saveable
        return sparse_rows.SparseRowsSaveable(sparse, _part_name(saveable, variable), saveable.name)

    def _check_updates(self):
        """Ops that were added since could change rows without a record of it."""
        if self._graph.version == self._nodes:
            return
        for sparse in self._sparse.values():
            if sparse_rows.sparse_updates(sparse.variable) != sparse.updates:
                raise RuntimeError(
                    f"Ops that change {sparse.variable.name} were added after the Saver(incremental_save_restore=True, "
                    "incremental_include_normal_var=True) was made, so its changed rows are not all recorded: make the Saver "
                    "after the training ops"
                )
        self._nodes = self._graph.version

    @property
    def last_incr_checkpoints(self):
        """Prefixes of the incremental checkpoints that are kept, the newest last."""
        return self.last_checkpoints

    recover_last_incr_checkpoints = saver_lib.Saver.recover_last_checkpoints
    set_last_incr_checkpoints_with_time = saver_lib.Saver.set_last_checkpoints_with_time

    def incremental_save(self, sess, save_path, global_step=None, write_state=True):
        """Writes an incremental checkpoint, and the state file `checkpoint` beside it.

        Args:
          sess: tf.Session.
          save_path: prefix of the checkpoint, without the step; its folder is made.
          global_step: int, or a tensor or variable of one, that is appended to the prefix; None: nothing is.
          write_state: whether to update the state file, and to delete what is more than max_to_keep.

        Returns:
          The prefix, a string; None if there are no variables.

        Raises:
          RuntimeError: `build()` has not been called, or rows are changed by ops that were made too late to be recorded.
          TypeError: `sess` is no session.
          tf.errors.FailedPreconditionError: the session's variables were not saved by a Saver(incremental_save_restore=True)
            since they were initialized or restored.
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before incremental_save if defer_build==True")
        if not isinstance(sess, session_lib.SessionInterface):
            raise TypeError(f"sess must be a Session, got {sess!r}")
        if self._is_empty:
            return None
        records = _records(sess.graph)
        with records.lock:
            if records.full_checkpoint is None:
                raise errors_impl.FailedPreconditionError(
                    None,
                    None,
                    "No full checkpoint was saved by a Saver(incremental_save_restore=True) since the variables were "
                    f"initialized or restored, so there is nothing that {save_path} could be an increment of",
                )
            self._check_updates()
            if global_step is not None:
                if not isinstance(global_step, compat.integral_types):
                    global_step = training_util.global_step(sess, global_step)
                save_path = f"{save_path}-{global_step}"
            folder = os.path.dirname(save_path)
            if folder:
                file_io.recursive_create_dir(folder)
            path = sess.run(
                self.saver_def.save_tensor_name,
                {
                    self.saver_def.filename_tensor_name: save_path,
                    self._full_checkpoint.name_of_full: os.path.basename(records.full_checkpoint),
                },
            ).decode()
            if write_state:
                self._RecordLastCheckpoint(path)
                checkpoint_management.update_checkpoint_state_internal(
                    save_dir=folder,
                    model_checkpoint_path=path,
                    all_model_checkpoint_paths=self.last_checkpoints,
                    latest_filename="checkpoint",
                    save_relative_paths=self._save_relative_paths,
                )
                self._MaybeDeleteOldCheckpoints()
        return path

    save = incremental_save

    def incremental_restore(self, sess, save_path, incr_save_path):
        """Puts the changes of an incremental checkpoint over what was restored from the full one before it.

        Args:
          sess: tf.Session in which a Saver has restored `save_path`.
          save_path: prefix of the full checkpoint.
          incr_save_path: prefix of the incremental one.

        Raises:
          ValueError: one of them is None, there is no such checkpoint, or they do not go together.
          tf.errors.DataLossError: the incremental checkpoint is damaged; its name is in the message.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("save_path must be the prefix of a full checkpoint, got None")
        if incr_save_path is None:
            raise ValueError("incr_save_path must be the prefix of an incremental checkpoint, got None")
        full = _full_checkpoint_of(incr_save_path)
        if full and full != os.path.basename(save_path):
            raise ValueError(
                f"The incremental checkpoint {incr_save_path} has the changes since {full}, so it can not go over {save_path}"
            )
        super().restore(sess, incr_save_path)

    def recover_incr_checkpoints(self, sess, checkpoint_dir):
        """Restores the newest incremental checkpoint that goes with the newest full one, which has just been restored.

        Args:
          sess: tf.Session.
          checkpoint_dir: folder of the full checkpoints; incremental ones are in `.incremental_checkpoint` below it.

        Returns:
          The prefix of what was restored; None if there is nothing newer than the full checkpoint.

        Raises:
          tf.errors.DataLossError: it is damaged; its name is in the message.
        """
        state = checkpoint_management.get_checkpoint_state(checkpoint_dir)
        increments = checkpoint_management.get_checkpoint_state(os.path.join(checkpoint_dir, SUB_INCR_CKPT_DIR))
        if state is None or increments is None or self._is_empty:
            return None
        chosen = newest_increment(state.model_checkpoint_path, increments.all_model_checkpoint_paths)
        if chosen is not None:
            logging.info("Restoring the incremental checkpoint %s", chosen)
            self.incremental_restore(sess, state.model_checkpoint_path, chosen)
        self.recover_last_checkpoints(increments.all_model_checkpoint_paths)
        return chosen


def _saveables(var_list) -> list:
    """What a full Saver saves."""
    if not isinstance(var_list, dict):
        var_list = saveable_object_util.op_list_to_dict(var_list)
    return saveable_object_util.validate_and_slice_inputs(var_list)


def _variable_of(var_list):
    """Function from a saveable to the ordinary variable that it saves, None if it is anything else."""
    items = var_list.values() if isinstance(var_list, dict) else var_list
    by_op = {}
    for item in items:
        for part in item if isinstance(item, (list, tuple, variables.PartitionedVariable)) else [item]:
            if isinstance(part, variables.Variable):
                by_op[part.op] = part

    def find(saveable):
        # Not of subclasses, which save and restore in a way of their own.
        if type(saveable) is saver_lib.BaseSaverBuilder.ResourceVariableSaveable:
            return by_op.get(saveable.handle_op.op)
        return by_op.get(saveable.op.op) if type(saveable) is saver_lib.BaseSaverBuilder.VariableSaveable else None

    return find


def _full_checkpoint_of(prefix: str) -> str:
    """Name of the full checkpoint that an incremental one goes with; "" if it does not say, as DeepRec's do not."""
    if not checkpoint_management.checkpoint_exists(prefix):
        raise ValueError(f"There is no incremental checkpoint {prefix}")
    try:
        reader = py_checkpoint_reader.NewCheckpointReader(prefix)
        return reader.get_tensor(FULL_CHECKPOINT).decode() if reader.has_tensor(FULL_CHECKPOINT) else ""
    except (errors_impl.OpError, RuntimeError) as error:
        raise errors_impl.DataLossError(
            None, None, f"The incremental checkpoint {prefix} is damaged: {getattr(error, 'message', error)}"
        ) from error


def _step_of(prefix: str) -> int | None:
    match = re.search(r"-(\d+)$", prefix)
    return int(match[1]) if match else None


def newest_increment(full: str, increments) -> str | None:
    """Which incremental checkpoint goes over a full one.

    Args:
      full: prefix of the full checkpoint.
      increments: prefixes of incremental ones, the oldest first.

    Returns:
      The last of a greater step whose changes are those since `full`; None if there is none.
    """
    step = _step_of(full)
    if step is None:
        logging.warning("The checkpoint %s has no step in its name, so no incremental checkpoint is restored.", full)
        return None
    for prefix in reversed(list(increments)):
        its_step = _step_of(prefix)
        if its_step is None or its_step <= step:
            continue
        if not checkpoint_management.checkpoint_exists(prefix):
            logging.warning("The incremental checkpoint %s is gone; an earlier one is looked for.", prefix)
            continue
        of = _full_checkpoint_of(prefix)
        if of in ("", os.path.basename(full)):
            return prefix
        logging.info("The incremental checkpoint %s goes with %s, not with %s: it is left out.", prefix, of, full)
    return None


def drop_increments_after(folder: str, step: int) -> None:
    """Takes incremental checkpoints of greater steps out of the state file of a folder.

    A session that begins at `step` makes another history than the one they are of. Their files stay.
    """
    state = checkpoint_management.get_checkpoint_state(folder)
    if state is None:
        return
    paths = list(state.all_model_checkpoint_paths)
    kept = [path for path in paths if (_step_of(path) or 0) <= step]
    if kept == paths:
        return
    logging.warning(
        "Training begins at step %d: these incremental checkpoints are of other steps, and will not be restored: %s",
        step,
        ", ".join(path for path in paths if path not in kept),
    )
    if kept:
        checkpoint_management.update_checkpoint_state_internal(folder, kept[-1], kept)
    else:
        file_io.delete_file(os.path.join(folder, "checkpoint"))


def incremental_saver_of(saver) -> IncrementalSaver | None:
    """The IncrementalSaver of a Saver(incremental_save_restore=True) that is built."""
    return getattr(saver, _INCREMENTAL, None)


def is_incremental(saver) -> bool:
    return getattr(saver, "_incremental_save_restore", False)


def _get_incremental_saver(incremental_save_restore, full_saver):
    """DeepRec's function: the IncrementalSaver of a Saver, which is built first; None if not asked for."""
    if not incremental_save_restore:
        return None
    if not is_incremental(full_saver):
        raise ValueError("full_saver must be a Saver(incremental_save_restore=True), got one without")
    full_saver.build()
    return incremental_saver_of(full_saver)


def _init(released):
    @functools.wraps(released)
    def init(self, *args, incremental_save_restore=False, incremental_include_normal_var=False, **kwargs):
        if incremental_include_normal_var and not incremental_save_restore:
            raise ValueError("incremental_include_normal_var is True, but incremental_save_restore is not")
        self._incremental_save_restore = bool(incremental_save_restore)
        self._incremental_include_normal_var = bool(incremental_include_normal_var)
        released(self, *args, **kwargs)
        if incremental_saver_of(self) is not None:
            # Known only now.
            incremental_saver_of(self)._save_relative_paths = self._save_relative_paths

    return init


def _build(released):
    @functools.wraps(released)
    def build(self, checkpoint_path, build_save, build_restore):
        was_built = self._is_built
        released(self, checkpoint_path, build_save, build_restore)
        if was_built or not is_incremental(self):
            return
        if context.executing_eagerly():
            raise RuntimeError("incremental_save_restore needs graph mode: eager execution is enabled.")
        if self._write_version != saver_pb2.SaverDef.V2:
            raise ValueError("write_version must be tf.train.SaverDef.V2 for incremental_save_restore, got V1")
        if self._var_list is None:
            raise ValueError("incremental_save_restore needs the variables: a Saver of a saver_def does not have them")
        incremental = IncrementalSaver(
            self._var_list,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            allow_empty=True,
            save_relative_paths=getattr(self, "_save_relative_paths", False),
            incremental_include_normal_var=self._incremental_include_normal_var,
        )
        setattr(self, _INCREMENTAL, incremental)
        self._start_recording = self._forget_earlier = None
        if self._is_empty:
            return
        # DeepRec's scripts look for it there.
        self._builder.filename_tensor = ops.get_default_graph().get_tensor_by_name(self.saver_def.filename_tensor_name)
        with ops.name_scope("incr_save"):
            self._start_recording = _recording_op(incremental, forget_earlier=False)
            self._forget_earlier = _recording_op(incremental, forget_earlier=True)

    return build


def _recording_op(incremental: IncrementalSaver, forget_earlier: bool):
    """Of all EmbeddingVariables and sparse rows that an IncrementalSaver saves."""
    made = sparse_rows.recording_op(incremental._sparse, forget_earlier)
    for variable in incremental._tables:
        with ops.colocate_with(variable.op):
            made.append(library.ops().kv_resource_record(variable.handle, forget_earlier=forget_earlier))
    return control_flow_ops.group(*made)


def _save(released):
    @functools.wraps(released)
    def save(self, sess, *args, **kwargs):
        if incremental_saver_of(self) is None or self._start_recording is None:
            return released(self, sess, *args, **kwargs)
        if not isinstance(sess, session_lib.SessionInterface):
            raise TypeError(f"sess must be a Session, got {sess!r}")
        records = _records(sess.graph)
        with records.lock:
            sess.run(self._start_recording)
            path = released(self, sess, *args, **kwargs)
            sess.run(self._forget_earlier)
            records.full_checkpoint = path
        return path

    return save


def _restore(released):
    @functools.wraps(released)
    def restore(self, sess, save_path):
        if incremental_saver_of(self) is not None:
            # What changes from now on is no change of what was saved.
            _records(sess.graph).full_checkpoint = None
        released(self, sess, save_path)

    return restore


def install() -> None:
    """Adds the arguments to `tf.train.Saver`."""
    cls = saver_lib.Saver
    cls.__init__ = _init(cls.__init__)
    cls._build = _build(cls._build)
    cls.save = _save(cls.save)
    cls.restore = _restore(cls.restore)
