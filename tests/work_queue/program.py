"""A training that prints the rows it reads: `program.py local FOLDER KILL_AT` or `program.py ps|worker FOLDER KILL_AT HOSTS INDEX`.

KILL_AT: the row at which it kills itself; 0: never. HOSTS: of the parameter server and the workers.
"""

import glob
import os
import signal
import sys
import time

import tensorflow as tf
from tensorflow.python.ops.work_queue import WorkQueue


def main(role, folder, kill_at, hosts="", index="0"):
    device, target = None, ""
    if hosts:
        ps, *workers = hosts.split(",")
        cluster = tf.train.ClusterSpec({"ps": [ps], "worker": workers})
        server = tf.train.Server(cluster, job_name=role, task_index=int(index))
        if role == "ps":
            server.join()
        device, target = (
            tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}"),
            server.target,
        )
    with tf.device(device):
        queue = WorkQueue(sorted(glob.glob(f"{folder}/f*")), seed=1, name="files")
        rows = queue.input_dataset().flat_map(tf.data.TextLineDataset)
        iterator = tf.data.make_initializable_iterator(rows)
        row = iterator.get_next()
        with tf.control_dependencies([row]):
            step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    if hosts:
        assert "/job:ps" in queue.specs[1].tensor.device, queue.specs[1].tensor.device
    count = 0
    with tf.train.MonitoredTrainingSession(
        target,
        is_chief=index == "0",
        checkpoint_dir=f"{folder}/checkpoint",
        save_checkpoint_steps=3,
        save_summaries_steps=None,
        # A worker does not wait for others.
        config=tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"]),
    ) as session:
        while not session.should_stop():
            value, _ = session.run([row, step])
            print(value.decode(), flush=True)
            count += 1
            if count == int(kill_at):
                open(f"{folder}/killed", "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            # The other worker is to find works, and to be killed while this one trains.
            while hosts and index == "0" and not os.path.exists(f"{folder}/killed"):
                time.sleep(0.02)


if __name__ == "__main__":
    main(*sys.argv[1:])
