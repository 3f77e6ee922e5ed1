"""`micro_batch_num = N`: a step reads N batches of each `tf.data` iterator and computes with their rows together.

DeepRec copies the graph for each batch and adds up the gradients. Here the batches are put together right behind the iterator, so a
step is that of a plain batch of N times as many rows: for every optimizer, for metrics and moving averages.

`components` holds what an iterator gives, `joining` makes the ops, `inputs` leads the edges of a graph there and back, `sessions` is
what sessions call.
"""
