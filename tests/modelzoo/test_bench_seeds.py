"""bench/seeds.py: the same initial values whatever else a graph holds."""

import numpy as np
import pytest
import tensorflow as tf

from bench import seeds


@pytest.fixture(autouse=True)
def seeds_by_name(monkeypatch):
    from tensorflow.python.framework import random_seed

    # Set back behind the test.
    monkeypatch.setattr(random_seed, "get_seed", random_seed.get_seed)
    seeds.by_name()


def values(build, graph_seed=3):
    with tf.Graph().as_default(), tf.Session() as session:
        if graph_seed is not None:
            tf.set_random_seed(graph_seed)
        fetched = build()
        session.run(tf.global_variables_initializer())
        return session.run(fetched)


def variable(name, **initializer):
    return tf.get_variable(name, [50], initializer=tf.random_uniform_initializer(**initializer))


def test_ops_that_came_before_do_not_change_an_initial_value():
    def behind_others():
        for _ in range(5):
            tf.constant(1.0)
        return variable("a")

    np.testing.assert_array_equal(values(lambda: variable("a")), values(behind_others))


def test_variables_of_other_names_and_graphs_of_other_seeds_start_elsewhere():
    a, b = values(lambda: [variable("a"), variable("b")])
    assert (a != b).all() and (a != values(lambda: variable("a"), graph_seed=4)).all()


def test_parts_of_a_variable_start_differently():
    def parts():
        return list(tf.get_variable("a", [4, 5], partitioner=tf.fixed_size_partitioner(2)))

    first, second = values(parts)
    assert (first != second).all()


def test_a_seed_that_is_given_is_kept():
    a, b = values(lambda: [variable("a", seed=7), variable("b", seed=7)])
    np.testing.assert_array_equal(a, b)


def test_without_a_seed_of_the_graph_values_differ_from_run_to_run():
    assert (values(lambda: variable("a"), None) != values(lambda: variable("a"), None)).all()
