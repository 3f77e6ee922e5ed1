"""Training in a cluster: parameter servers and workers, as TF_CONFIG says.

`TF_CONFIG='{"cluster": {"ps": ["host:port"], "worker": ["host:port", ...]}, "task": {"type": "worker", "index": 0}}'`; there may be a
"chief" beside the workers, otherwise worker 0 is it.
"""

import argparse
import json
import os
import time
from typing import NamedTuple, Optional

import tensorflow as tf

from common.cli import StopRequest
from common.errors import InputError
from common.progress import log

# Of the parsed flags.
ATTRIBUTE = "joined_cluster"
_JOBS = ("ps", "chief", "worker")


class Cluster(NamedTuple):
    """This process among others. device: for the graph. filters: devices that it talks
    to. data_dir: where the chief generates."""

    target: str
    is_chief: bool
    device: object
    filters: tuple
    data_dir: str


def of(args: argparse.Namespace) -> Optional[Cluster]:
    """The cluster that this process has joined, or None."""
    return getattr(args, ATTRIBUTE, None)


def leave(args: argparse.Namespace) -> None:
    """From now on this process works by itself."""
    delattr(args, ATTRIBUTE)


def join(args: argparse.Namespace, stop: StopRequest) -> None:
    """Starts this process's server, if TF_CONFIG names a cluster.

    A parameter server does not come back until a signal. A worker that is not the chief gets a folder of its own in
    args.output_dir; generated data and checkpoints are the chief's.

    Raises:
      InputError: TF_CONFIG can not be understood, or several workers would read the same rows.
      Stopped: of a parameter server.
    """
    if args.protocol != "grpc":
        log.warning("--protocol %s: DeepRec's own transport is not there; processes talk by grpc", args.protocol)
    cluster, job, index = _read(os.environ.get("TF_CONFIG", ""))
    if cluster is None:
        return
    is_chief = job == "chief" or (job == "worker" and index == 0 and "chief" not in cluster)
    workers = sum(len(cluster.get(name, ())) for name in ("chief", "worker"))
    if workers > 1 and not args.workqueue:
        raise InputError(
            f"{workers} workers would each read all rows: give all of them --workqueue, which shares them out"
        )
    try:
        server = tf.train.Server(cluster, job_name=job, task_index=index, protocol="grpc")
    except tf.errors.OpError as error:
        raise InputError(
            f"TF_CONFIG: {cluster[job][index]} can not be served: {error.message.splitlines()[0]}"
        ) from None
    log.info("%s %d of the cluster listens at %s", job, index, cluster[job][index])
    if job == "ps":
        while True:
            stop.raise_if_set("a parameter server has nothing to save")
            time.sleep(0.2)
    worker = f"/job:{job}/task:{index}"
    args.checkpoint = os.path.abspath(args.checkpoint)  # parameter servers write it
    data_dir = args.output_dir
    if not is_chief:
        args.output_dir = os.path.join(args.output_dir, f"{job}_{index}")
    device = tf.train.replica_device_setter(worker_device=worker, cluster=tf.train.ClusterSpec(cluster))
    setattr(args, ATTRIBUTE, Cluster(server.target, is_chief, device, ("/job:ps", worker), data_dir))


def _read(text: str):
    """(cluster, job, index), or Nones."""
    try:
        config = json.loads(text or "{}")
        cluster = config.get("cluster")
        if not cluster:
            return None, None, None
        task = config.get("task", {})
        job, index = task["type"], int(task["index"])
        jobs = {name: list(hosts) for name, hosts in cluster.items()}
        if not 0 <= index < len(jobs[job]):
            raise ValueError(f"there is no {job} {index}")
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(f"TF_CONFIG: can not be understood ({type(error).__name__}: {error}); got {text}") from None
    strange = [name for name in (*jobs, job) if name not in _JOBS]
    if strange:
        raise InputError(f"TF_CONFIG: {strange[0]!r} is no job that is known here; expected {', '.join(_JOBS)}")
    if not jobs.get("ps"):
        raise InputError("TF_CONFIG: the cluster has no parameter server, expected at least one in 'ps'")
    return jobs, job, index
