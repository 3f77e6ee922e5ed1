"""Datasets have 1.15's order.

A shuffle that is repeated draws from one random stream of the raw seeds through all epochs; an interleave without a cycle length
reads from as many elements at once as there are CPUs.
"""

import itertools
import os

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.data.ops import dataset_ops

_MASK = 0xFFFFFFFF


def _philox(seed, seed2):
    """The 32-bit numbers of Philox4x32-10 with the key `seed` and the upper half of the counter `seed2`."""
    for block in itertools.count():
        counter = [block & _MASK, block >> 32, seed2 & _MASK, seed2 >> 32]
        key = [seed & _MASK, seed >> 32]
        for _ in range(10):
            low, high = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
            counter = [high >> 32 ^ counter[1] ^ key[0], high & _MASK, low >> 32 ^ counter[3] ^ key[1], low & _MASK]
            key = [(key[0] + 0x9E3779B9) & _MASK, (key[1] + 0xBB67AE85) & _MASK]
        yield from counter


def _reference(elements, buffer_size, count, seed, seed2):
    """Epoch by epoch: a window of the next elements, one of which is drawn; its place takes the oldest."""
    random = _philox(seed, seed2)
    out = []
    for _ in range(count):
        rest = list(elements)
        window = []
        while rest or window:
            while rest and len(window) < buffer_size:
                window.append(rest.pop(0))
            i = next(random) % len(window)
            out.append(window[i])
            window[i] = window[0]
            del window[0]
    return out


def _values(dataset, most=1000):
    get_next = tf.data.make_one_shot_iterator(dataset).get_next()
    out = []
    with tf.Session() as session:
        try:
            while len(out) < most:
                out.append(session.run(get_next))
        except tf.errors.OutOfRangeError:
            pass
    return out


@pytest.fixture(autouse=True)
def graph_seed():
    with tf.Graph().as_default():
        tf.set_random_seed(9)
        yield 9


@pytest.mark.parametrize("num_elements, buffer_size", [(1, 1), (7, 1), (12, 5), (12, 12), (3, 50), (1, 10), (40, 17)])
def test_shuffle_and_repeat_draws_from_one_stream(num_elements, buffer_size):
    source = tf.data.Dataset.range(num_elements)
    want = _reference(range(num_elements), buffer_size, 6, 9, 21)
    fused = source.apply(tf.data.experimental.shuffle_and_repeat(buffer_size, 6, seed=21))
    assert _values(fused) == want
    assert _values(source.shuffle(buffer_size, seed=21).repeat(6)) == want


def test_large_seeds_keep_all_their_bits():
    seed, seed2 = (5 << 33) + 77, (3 << 40) + 1
    source = tf.data.Dataset.range(9)
    variant = tf.raw_ops.ShuffleAndRepeatDataset(
        input_dataset=source._variant_tensor,
        buffer_size=tf.constant(4, tf.int64),
        seed=tf.constant(seed, tf.int64),
        seed2=tf.constant(seed2, tf.int64),
        count=tf.constant(3, tf.int64),
        output_types=[tf.int64],
        output_shapes=[()],
    )
    dataset = dataset_ops._VariantDataset(variant, source.element_spec)
    assert _values(dataset) == _reference(range(9), 4, 3, seed, seed2)


def test_repeat_without_a_count_goes_on():
    dataset = tf.data.Dataset.range(5).shuffle(3, seed=2).repeat()
    assert _values(dataset, 43) == _reference(range(5), 3, 9, 9, 2)[:43]


def test_a_new_run_of_the_iterator_has_the_same_order():
    iterator = tf.data.Dataset.range(8).shuffle(4, seed=3).repeat(2).make_initializable_iterator()
    get_next = iterator.get_next()
    runs = []
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            runs.append([session.run(get_next) for _ in range(16)])
    assert runs[0] == runs[1] == _reference(range(8), 4, 2, 9, 3)


def test_without_reshuffling_every_epoch_is_the_first():
    dataset = tf.data.Dataset.range(10).shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3)
    assert _values(dataset) == 3 * _reference(range(10), 4, 1, 9, 3)


def test_without_seeds_two_iterators_differ_and_epochs_are_whole():
    tf.set_random_seed(None)
    orders = [_values(tf.data.Dataset.range(50).shuffle(50).repeat(2)) for _ in range(2)]
    assert orders[0] != orders[1]
    for order in orders:
        assert sorted(order[:50]) == sorted(order[50:]) == list(range(50))


def test_several_components_stay_together():
    names = np.array([b"a", b"b", b"c", b"d"])
    dataset = tf.data.Dataset.from_tensor_slices({"i": np.arange(4), "name": names}).shuffle(2, seed=5).repeat(2)
    got = _values(dataset)
    assert [row["i"] for row in got] == _reference(range(4), 2, 2, 9, 5)
    assert all(row["name"] == names[row["i"]] for row in got)


def test_an_endless_repeat_of_nothing_ends():
    assert _values(tf.data.Dataset.range(0).shuffle(3, seed=1).repeat()) == []


def test_an_input_that_has_an_error_passes_it_on():
    dataset = tf.data.Dataset.range(3).map(lambda i: tf.check_numerics(1.0 / tf.cast(i - 1, tf.float32), "one"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="one"):
        _values(dataset.shuffle(2, seed=1).repeat(2))


@pytest.mark.parametrize("count", [0, -2])
def test_a_bad_count_is_refused(count):
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(2, count, seed=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"count must be .*got {count}"):
        _values(dataset)


@pytest.mark.parametrize("size", [0, -1])
def test_a_bad_buffer_size_is_refused(size):
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(size, 2, seed=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"buffer_size must be .*got {size}"):
        _values(dataset)


def test_a_whole_epoch_in_the_buffer():
    size = tf.data.experimental.UNKNOWN_CARDINALITY
    dataset = tf.data.Dataset.range(9).apply(tf.data.experimental.shuffle_and_repeat(size, 3, seed=1))
    assert _values(dataset) == _reference(range(9), 9, 3, 9, 1)
    endless = tf.data.Dataset.range(9).repeat().apply(tf.data.experimental.shuffle_and_repeat(size, 3, seed=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="infinite"):
        _values(endless)


@pytest.mark.parametrize("num_elements, buffer_size", [(12, 5), (3, 20)])
@pytest.mark.parametrize("steps", [0, 1, 7, 13, 30])
def test_a_saved_iterator_goes_on_where_it_was(num_elements, buffer_size, steps, tmp_path):
    dataset = tf.data.Dataset.range(num_elements).shuffle(buffer_size, seed=21).repeat(12)
    iterator = dataset.make_initializable_iterator()
    get_next = iterator.get_next()
    saver = tf.train.Saver({"iterator": tf.data.experimental.make_saveable_from_iterator(iterator)})
    want = _reference(range(num_elements), buffer_size, 12, 9, 21)
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(get_next) for _ in range(steps)] == want[:steps]
        path = saver.save(session, str(tmp_path / "model"))
        session.run(get_next)
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        rest = [session.run(get_next) for _ in range(len(want) - steps)]
        assert rest == want[steps:]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(get_next)


def test_a_saved_iterator_without_seeds_goes_on_in_another_session(tmp_path):
    tf.set_random_seed(None)
    iterator = tf.data.Dataset.range(30).shuffle(30).repeat(2).make_initializable_iterator()
    get_next = iterator.get_next()
    saver = tf.train.Saver({"iterator": tf.data.experimental.make_saveable_from_iterator(iterator)})
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(get_next)
        path = saver.save(session, str(tmp_path / "model"))
        want = [session.run(get_next) for _ in range(59)]
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert [session.run(get_next) for _ in range(59)] == want


def test_the_fusion_can_be_turned_off():
    options = tf.data.Options()
    options.experimental_optimization.shuffle_and_repeat_fusion = False
    dataset = tf.data.Dataset.range(12).shuffle(5, seed=21).repeat(2).with_options(options)
    assert _values(dataset)[:12] == _values(tf.data.Dataset.range(12).shuffle(5, seed=21))


def test_the_stock_order_on_request(check_python):
    code = (
        "import tensorflow as tf\ntf.set_random_seed(9)\n"
        "n = tf.data.Dataset.range(12).shuffle(5, seed=21).repeat(2).make_one_shot_iterator().get_next()\n"
        "with tf.Session() as s: print([int(s.run(n)) for _ in range(12)])"
    )
    ours = str(_reference(range(12), 5, 1, 9, 21))
    assert check_python(code) == ours
    assert check_python(code, TF_DEEPREC_DISABLE_KERNELS="ShuffleAndRepeatDataset") != ours
    as_root_2 = code.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()")
    assert check_python(as_root_2, TF_DEEPREC_ROOT="2") != ours


def test_a_repeat_of_one_is_no_repeat():
    source = tf.data.Dataset.range(12).shuffle(5, seed=21)
    assert _values(source.repeat(1)) == _values(source) != _reference(range(12), 5, 1, 9, 21)


def _interleaved(elements, repeats, cycle):
    """One of each of `cycle` elements in turn; a place whose element is used up takes the next one."""
    rest, places, out = list(elements), [None] * cycle, []
    while rest or any(places):
        for i in range(cycle):
            if not places[i] and rest:
                places[i] = [rest.pop(0)] * repeats
            if places[i]:
                out.append(places[i].pop())
    return out


@pytest.mark.parametrize("parallel", [None, 1, -1])
@pytest.mark.parametrize("cpus", [1, 2])
def test_an_interleave_without_a_cycle_length_has_one_for_each_cpu(check_python, parallel, cpus):
    if len(os.sched_getaffinity(0)) < cpus:
        pytest.skip(f"needs {cpus} CPUs")
    # In a process of its own: the runtime counts the CPUs once.
    out = check_python(
        f"import os\nos.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{cpus}])\n"
        "import tensorflow as tf\n"
        "tf.enable_eager_execution()\n"
        "data = tf.data.Dataset.range(5)\n"
        "inner = lambda x: tf.data.Dataset.from_tensors(x).repeat(3)\n"
        f"print([int(x) for x in data.interleave(inner, num_parallel_calls={parallel})])"
    )
    assert out == str(_interleaved(range(5), 3, cpus))
