"""S8: the same loop under MultiWorkerMirroredStrategy, one replica in each process.

The processes know of each other by TF_CONFIG, or by what mpiexec tells them; s09_mpiexec.py starts them.
"""

import json
import os

import s05_mirrored_model
import s07_mirrored_loop
import tensorflow as tf

# Hydra's and Open MPI's names of the rank and the number of processes.
_LAUNCHERS = (("PMI_RANK", "PMI_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"))


def tf_config(environ, port):
    """TF_CONFIG of a process that mpiexec has started on one machine; worker i listens at port + i.

    Raises:
      RuntimeError: mpiexec has not.
    """
    for rank, size in _LAUNCHERS:
        if rank in environ and size in environ:
            workers = [f"localhost:{port + i}" for i in range(int(environ[size]))]
            return {"cluster": {"worker": workers}, "task": {"type": "worker", "index": int(environ[rank])}}
    names = " or ".join(" and ".join(pair) for pair in _LAUNCHERS)
    raise RuntimeError(f"set TF_CONFIG, or start this by mpiexec or s09_mpiexec.py: there is no {names}")


def main(argv=None):
    args = s05_mirrored_model.parse(__doc__, argv, port=(12345, "of the first worker, if mpiexec has started this"))
    if "TF_CONFIG" not in os.environ:
        os.environ["TF_CONFIG"] = json.dumps(tf_config(os.environ, args.port))
    tf.compat.v1.enable_v2_behavior()
    # Before any op runs.
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()  # the name that both roots have
    s07_mirrored_loop.train(strategy, args)


if __name__ == "__main__":
    main()
