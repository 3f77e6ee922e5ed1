"""The program of a model: everything that train.py does but the network."""

import argparse
from typing import Callable, Dict, NamedTuple, Optional, Union

import tensorflow as tf

from common import cli, clusters, flags, model_flags, progress, training
from common.embeddings import Embeddings
from common.graph import Model
from common.tasks import by_task


def cross_entropy(labels, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def squared_error(labels, logits):
    """Of the probability."""
    return tf.square(tf.sigmoid(logits) - labels)


class Outputs(NamedTuple):
    """losses: float32 [B], of all tasks. probabilities: float32 [B], or a dict of them by label, the main task first."""

    losses: tf.Tensor
    probabilities: Union[tf.Tensor, Dict[str, tf.Tensor]]


class Network(NamedTuple):
    """A model.

    Attributes:
      name: of the model and its folder.
      data: (args, stop) -> common.graph.Input.
      logits: (features, args, embeddings: embeddings.Embeddings, training: bool tensor) -> float32 [B], or a dict of
        them by label, the main task first.
      defaults: of the flags that models share.
      add_flags: adds the model's own to a group.
      sizes: names of the flags that decide its variables.
      loss: (labels, logits) -> float32 [B]; several tasks' are added.
      add_data_flags: the flags of `data`.
      clip_norm: of all gradients together.
      check: (parser, args): ends the program by parser.error if the model's flags contradict each other.
      run_defaults: of other flags, by name.
      outputs: (features, labels, args, embeddings, training) -> Outputs, in place of logits and loss where these are not
        enough.
      minimize: (args, loss, global step) -> the op of one step, in place of --optimizer on all variables.
      eval_batch: see graph.Model.
    """

    name: str
    data: Callable
    logits: Optional[Callable] = None
    defaults: model_flags.Defaults = model_flags.Defaults()
    add_flags: Callable = lambda group: None
    sizes: tuple = ()
    loss: Callable = cross_entropy
    add_data_flags: Callable = flags.add_data_flags
    clip_norm: Optional[float] = None
    check: Callable = lambda parser, args: None
    run_defaults: Dict[str, int] = {}
    outputs: Optional[Callable] = None
    minimize: Optional[Callable] = None
    eval_batch: int = Model._field_defaults["eval_batch"]


def classify(loss: Callable, labels, logits) -> Outputs:
    """Of one task or several with a logit each."""
    logits_of, labels_of = by_task(logits), by_task(labels)
    losses = [loss(labels_of[task], value) for task, value in logits_of.items()]
    probabilities = {task: tf.sigmoid(value) for task, value in logits_of.items()}
    return Outputs(tf.add_n(losses), probabilities)


def parse(network: Network, description: str, arguments) -> argparse.Namespace:
    parser = flags.Parser(description)
    network.add_data_flags(parser)
    flags.add_run_flags(parser, output_dir=f"{network.name}_output")
    parser.set_defaults(**network.run_defaults)
    network.add_flags(model_flags.add_flags(parser, network.defaults))
    args = model_flags.parse(parser, arguments)
    network.check(parser, args)
    return args


def run(network: Network, description: str) -> None:
    """The main program."""

    def main(arguments, stop: cli.StopRequest) -> None:
        args = parse(network, description, arguments)
        tf.logging.set_verbosity(tf.logging.ERROR)
        progress.start_logging()
        clusters.join(args, stop)

        def model_fn(features, labels, is_training) -> Model:
            embeddings = Embeddings(args)
            if network.outputs:
                outputs = network.outputs(features, labels, args, embeddings, is_training)
            else:
                outputs = classify(network.loss, labels, network.logits(features, args, embeddings, is_training))

            def minimize(loss, step):
                if network.minimize:
                    return network.minimize(args, loss, step)
                return model_flags.minimize(args, loss, step, network.clip_norm)

            return Model(*outputs, minimize=minimize, eval_batch=network.eval_batch)

        settings = {**model_flags.settings(args), **{name: getattr(args, name) for name in network.sizes}}
        training.train_and_evaluate(network.name, args, network.data(args, stop), settings, model_fn, stop)

    cli.run(main)
