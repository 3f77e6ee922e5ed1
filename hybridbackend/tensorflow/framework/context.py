"""`hb.context`: the place of this process in the cluster of TF_CONFIG, and options."""

import collections
import contextlib
import functools
import json
import os

from hybridbackend.tensorflow.framework import options
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import ops
from tensorflow.python.training import server_lib

TfConfig = collections.namedtuple("TfConfig", ("task_type", "task_id", "cluster"))


class Context:
    """The place of this process, and its options. One device a task: /cpu:0."""

    def __init__(self):
        self._options = options.defaults()
        self._saving_listeners = {}
        config = self.get_tf_config()
        self._task_type, self._task_id = ("localhost", 0) if config is None else config[:2]
        self._cluster_spec = None if config is None else server_lib.ClusterSpec(config.cluster)
        if self._task_type == "localhost":
            self._devices = [_device("localhost", 0)]
        elif self._task_type in ("chief", "worker"):
            jobs = config.cluster
            self._devices = [_device(job, i) for job in ("chief", "worker") for i in range(len(jobs.get(job, ())))]
        else:
            self._devices = []

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def get() -> "Context":
        """The context of this process."""
        return Context()

    @staticmethod
    @contextlib.contextmanager
    def scope(**kwargs):
        """Sets options inside of a `with` block; yields the context."""
        context = Context.get()
        before = context.options.update(**kwargs)
        try:
            yield context
        finally:
            context.options.update(**before)

    @staticmethod
    def get_tf_config():
        """TF_CONFIG as (task_type, task_id, cluster); None if there is none.

        Raises:
          ValueError: it is no JSON with a cluster and a task.
        """
        text = os.environ.get("TF_CONFIG", "")
        if not text:
            return None
        try:
            config = json.loads(text)
            task = config["task"]
            return TfConfig(task["type"], int(task["index"]), config["cluster"])
        except (KeyError, TypeError, ValueError) as e:
            raise ValueError(f"TF_CONFIG must be JSON with a cluster and a task, got {text!r}") from e

    @staticmethod
    def set_tf_config(task_type, task_id, worker_hosts, ps_hosts=None, has_evaluator=False) -> None:
        """Writes TF_CONFIG.

        Args:
          task_type: "chief", "worker", "ps" or "evaluator".
          task_id: number of the task; of a worker, among all worker_hosts.
          worker_hosts: addresses; the first is the chief's, the second the evaluator's if there is one.
          ps_hosts: addresses of parameter servers.
          has_evaluator: whether there is an evaluator.

        Raises:
          ValueError: there is no host for the chief or the evaluator.
        """
        hosts = worker_hosts.split(",") if isinstance(worker_hosts, str) else list(worker_hosts)
        if len(hosts) < 1 + has_evaluator:
            raise ValueError(f"worker_hosts must have at least {1 + has_evaluator} addresses, got {hosts}")
        cluster = {"chief": hosts[:1]}
        rest = hosts[1:]
        if has_evaluator:
            cluster["evaluator"], rest = rest[:1], rest[1:]
        if rest:
            cluster["worker"] = rest
        if ps_hosts:
            cluster["ps"] = ps_hosts.split(",") if isinstance(ps_hosts, str) else list(ps_hosts)
        if task_type == "worker":
            before = 1 + has_evaluator
            task_type, task_id = (
                ("chief", 0)
                if task_id == 0
                else ("evaluator", 0)
                if has_evaluator and task_id == 1
                else ("worker", task_id - before)
            )
        os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": task_type, "index": task_id}})

    @staticmethod
    def current_device() -> str:
        """The device that an op without a reason goes to."""
        from tensorflow.python.ops import control_flow_ops

        with ops.Graph().as_default(), ops.device(Context.get().default_device):
            return control_flow_ops.no_op().device

    @staticmethod
    def canonicalize(devices):
        """Devices by their whole names, as /job:worker/replica:0/task:1/device:CPU:0: a list of them, or one of one.

        What a name leaves out is that of this process.

        Raises:
          ValueError: one is no name of a device.
        """
        from tensorflow.python.distribute import device_util

        default = Context.get().local_cpu_device
        if isinstance(devices, str):
            return device_util.canonicalize(devices, default)
        return [device_util.canonicalize(device, default) for device in devices]

    options = property(lambda self: self._options, doc="Options, as attributes.")
    cluster_spec = property(lambda self: self._cluster_spec, doc="tf.train.ClusterSpec; None without TF_CONFIG.")
    task_type = property(lambda self: self._task_type, doc="'localhost' without TF_CONFIG.")
    task_id = property(lambda self: self._task_id, doc="Number of the task among those of its type.")
    has_gpu = property(lambda self: False, doc="This wheel is for CPUs.")
    num_gpus = property(lambda self: 0, doc="This wheel is for CPUs.")
    devices = property(lambda self: tuple(self._devices), doc="Devices of the chief, then of the workers.")
    saving_listeners = property(lambda self: dict(self._saving_listeners), doc="Listeners by name.")

    @property
    def target(self) -> str:
        """Of sessions: '' or 'grpc://host:port' of this task."""
        if self._cluster_spec is None:
            return ""
        return f"grpc://{self._cluster_spec.task_address(self._task_type, self._task_id)}"

    @property
    def is_chief(self) -> bool:
        return self._task_type in ("localhost", "chief")

    @property
    def default_device(self) -> str:
        return f"/job:{self._task_type}/replica:0/task:{self._task_id}"

    @property
    def local_cpu_device(self) -> str:
        return _device(self._task_type, self._task_id)

    @property
    def local_devices(self) -> tuple:
        return (self.local_cpu_device,) if self._devices else ()

    @property
    def cpu_devices(self) -> tuple:
        return tuple(self._devices)

    @property
    def local_world_size(self) -> int:
        """LOCAL_WORLD_SIZE, or the number of devices of this task."""
        return int(os.environ.get("LOCAL_WORLD_SIZE", len(self.local_devices)))

    @property
    def world_size(self) -> int:
        return len(self._devices)

    @property
    def rank(self) -> int:
        """Place of this task's device among all devices.

        Raises:
          ValueError: it is neither chief nor worker.
        """
        return self.rank_at(0)

    def rank_at(self, device_or_tower_id) -> int:
        """Place of a device, or of a device of this task by number, among all devices.

        Raises:
          ValueError: there is no such device.
        """
        device = device_or_tower_id
        if not isinstance(device, str):
            if device >= len(self.local_devices):
                raise ValueError(f"this task has {len(self.local_devices)} devices, got number {device}")
            device = self.local_devices[device]
        if device not in self._devices:
            raise ValueError(f"there is no device {device!r}; there are {self._devices}")
        return self._devices.index(device)

    def current_index(self) -> int:
        """Number of the device of this task that ops go to now: there is one."""
        return 0

    def update_params(self, **kwargs) -> dict:
        """Deprecated: options.update."""
        return self._options.update(**kwargs)

    def add_saving_listener(self, name, listener) -> None:
        """Adds a listener; the first of a name holds."""
        self._saving_listeners.setdefault(name, listener)


def _device(job: str, task: int) -> str:
    return f"/job:{job}/replica:0/task:{task}/device:CPU:0"


context = Context.get()
# Of 0.6 and 0.7.
context_scope = Context.scope


def get_session_config(*args, **kwargs):
    """A ConfigProto of these arguments for this task of the cluster, with soft placement."""
    kwargs.setdefault("allow_soft_placement", True)
    return wraps_session_config(config_pb2.ConfigProto(*args, **kwargs))


def wraps_session_config(session_config, *args, **kwargs):
    """The ConfigProto, or a new one of the other arguments, with what this task of the cluster needs.

    Where it has no device filters: without a cluster sessions keep their state for themselves; with one, they see parameter servers,
    the chief and their own task.
    """
    if session_config is None:
        return get_session_config(*args, **kwargs)
    found = Context.get()
    if session_config.device_filters:
        return session_config
    session_config.isolate_session_state = found.cluster_spec is None
    if found.cluster_spec is not None:
        own = f"/job:{found.task_type}/task:{found.task_id}"
        filters = [own] if found.task_type == "evaluator" else ["/job:ps", "/job:chief", own]
        session_config.device_filters.extend(filters)
        if found.task_type != "evaluator":
            session_config.experimental.collective_group_leader = "/job:chief/replica:0/task:0"
    return session_config
