"""The garbage collector around `import tensorflow`."""

import gc

import pytest
from tensorflow.deeprec.import_pause import without_collections


@pytest.fixture(autouse=True)
def collector_as_before():
    was_enabled = gc.isenabled()
    yield
    gc.unfreeze()
    (gc.enable if was_enabled else gc.disable)()


def test_nothing_is_collected_within():
    gc.enable()
    with without_collections():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() == 0


def test_it_runs_again_behind_an_error():
    gc.enable()
    with pytest.raises(ImportError), without_collections():
        raise ImportError("a module")
    assert gc.isenabled()


def test_a_program_that_has_turned_it_off_keeps_it_off():
    gc.disable()
    with without_collections():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_what_a_program_has_frozen_stays_frozen():
    gc.enable()
    gc.freeze()
    assert gc.get_freeze_count() > 1000
    with without_collections():
        pass
    assert gc.get_freeze_count() > 1000


def test_objects_made_within_count_as_old():
    gc.enable()
    with without_collections():
        made = [[i] for i in range(1000)]
    old = {id(thing) for thing in gc.get_objects(generation=2)}
    assert all(id(thing) in old for thing in made)


@pytest.mark.parametrize("root", ["1", "2"])
def test_the_import_leaves_the_collector_as_it_was(check_python, root):
    code = (
        "import gc; before = gc.get_threshold(); import tensorflow; "
        "assert gc.isenabled() and gc.get_freeze_count() == 0 and gc.get_threshold() == before"
    )
    check_python(code, TF_DEEPREC_ROOT=root)


def test_cycles_from_before_the_import_are_collected(check_python):
    check_python(
        "import gc, weakref\n"
        "class Node: pass\n"
        "node = Node(); node.self = node; seen = weakref.ref(node); del node\n"
        "import tensorflow\n"
        "gc.collect(); assert seen() is None"
    )


def test_keras_is_imported_without_collections(check_python):
    check_python(
        "import gc, tensorflow as tf\n"
        "before = gc.get_stats()\n"
        "tf.keras.layers.Dense\n"
        "assert gc.isenabled() and gc.get_stats()[2] == before[2] and gc.get_stats()[1] == before[1]"
    )
