"""The program of a model: everything that train.py does but the network."""

import argparse
from typing import Callable, NamedTuple

import tensorflow as tf

from common import cli, flags, model_flags, progress, training
from common.graph import Model


def cross_entropy(labels, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def squared_error(labels, logits):
    """Of the probability."""
    return tf.square(tf.sigmoid(logits) - labels)


class Network(NamedTuple):
    """A model.

    Attributes:
      name: of the model and its folder.
      data: (args, stop) -> common.graph.Input.
      logits: (features, args, embeddings: model_flags.Embeddings, training: bool tensor) -> float32 [B].
      defaults: of the flags that models share.
      add_flags: adds the model's own to a group.
      sizes: names of the flags that decide its variables.
      loss: (labels, logits) -> float32 [B].
      add_data_flags: the flags of `data`.
    """

    name: str
    data: Callable
    logits: Callable
    defaults: model_flags.Defaults = model_flags.Defaults()
    add_flags: Callable = lambda group: None
    sizes: tuple = ()
    loss: Callable = cross_entropy
    add_data_flags: Callable = flags.add_data_flags
    clip_norm: float = None


def parse(network: Network, description: str, arguments) -> argparse.Namespace:
    parser = flags.Parser(description)
    network.add_data_flags(parser)
    flags.add_run_flags(parser, output_dir=f"{network.name}_output")
    network.add_flags(model_flags.add_flags(parser, network.defaults))
    return model_flags.parse(parser, arguments)


def run(network: Network, description: str) -> None:
    """The main program."""

    def main(arguments, stop: cli.StopRequest) -> None:
        args = parse(network, description, arguments)
        tf.logging.set_verbosity(tf.logging.ERROR)
        progress.start_logging()

        def model_fn(features, labels, is_training) -> Model:
            logits = network.logits(features, args, model_flags.Embeddings(args), is_training)
            return Model(
                losses=network.loss(labels, logits),
                probabilities=tf.sigmoid(logits),
                minimize=lambda loss, step: model_flags.minimize(args, loss, step, network.clip_norm),
            )

        settings = {**model_flags.settings(args), **{name: getattr(args, name) for name in network.sizes}}
        training.train_and_evaluate(network.name, args, network.data(args, stop), settings, model_fn, stop)

    cli.run(main)
