"""WorkQueue: a queue of works, such as names of files, that the workers of a training share.

`work_queue` holds the public class, `readers` the local queues and threads that datasets and input producers read it through,
`slices` works that are cut into ranges of records, `local_works` the works that a worker keeps on its disk. The queue itself is C++,
`core/work_queue`.
"""
