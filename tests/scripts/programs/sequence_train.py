"""A sequence model as older DeepRec scripts are written: vocabulary files, private imports, cells of its own, a time loop of its own.

Nothing in it knows of this project; with --tf it uses nothing but TensorFlow 1.15.
"""
import argparse
import os
import time

import tensorflow as tf
from tensorflow.contrib.rnn.python.ops import core_rnn_cell
from tensorflow.python.feature_column import utils as fc_utils
from tensorflow.python.feature_column.feature_column import _LazyBuilder
from tensorflow.python.framework import constant_op, dtypes, ops, tensor_shape
from tensorflow.python.layers import utils as layers_utils
from tensorflow.python.ops import array_ops, control_flow_ops, init_ops, math_ops, nn_ops, tensor_array_ops
from tensorflow.python.ops import variable_scope as vs
from tensorflow.python.ops.rnn_cell import *
from tensorflow.python.ops.rnn_cell_impl import assert_like_rnncell
from tensorflow.python.util import nest

MAX_SEQ = 20
DIM = 6


class AttentionGRUCell(RNNCell):
    """A gated unit whose update gate is scaled by an attention score (Zhou et al., 2018, DIEN)."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None):
        super(AttentionGRUCell, self).__init__(_reuse=reuse)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer
        self._gate_linear = None
        self._candidate_linear = None

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def __call__(self, inputs, state, att_score):
        return self.call(inputs, state, att_score)

    def call(self, inputs, state, att_score=None):
        if self._gate_linear is None:
            bias = self._bias_initializer
            if bias is None:
                bias = init_ops.constant_initializer(1.0, dtype=inputs.dtype)
            with vs.variable_scope('gates'):
                self._gate_linear = core_rnn_cell._Linear(
                    [inputs, state], 2 * self._num_units, True,
                    bias_initializer=bias, kernel_initializer=self._kernel_initializer)
        r, u = array_ops.split(value=math_ops.sigmoid(self._gate_linear([inputs, state])), num_or_size_splits=2, axis=1)
        if self._candidate_linear is None:
            with vs.variable_scope('candidate'):
                self._candidate_linear = core_rnn_cell._Linear(
                    [inputs, r * state], self._num_units, True,
                    bias_initializer=self._bias_initializer, kernel_initializer=self._kernel_initializer)
        c = self._activation(self._candidate_linear([inputs, r * state]))
        u = (1.0 - att_score) * u
        new_h = u * state + (1 - u) * c
        return new_h, new_h


def attention_rnn(cell, inputs, att_scores, sequence_length, dtype, scope=None):
    """dynamic_rnn with a third input, as old model code carries it around: tensor arrays in a while_loop."""
    assert_like_rnncell('cell', cell)
    with vs.variable_scope(scope or 'rnn') as varscope:
        if varscope.caching_device is None:
            varscope.set_caching_device(lambda op: op.device)
        flat = [array_ops.transpose(x, [1, 0, 2]) for x in nest.flatten((inputs, att_scores))]
        steps, batch = array_ops.shape(flat[0])[0], array_ops.shape(flat[0])[1]
        sequence_length = math_ops.cast(sequence_length, dtypes.int32)
        arrays = [
            tensor_array_ops.TensorArray(x.dtype, size=steps, tensor_array_name='input_%d' % i).unstack(x)
            for i, x in enumerate(flat)]
        output_array = tensor_array_ops.TensorArray(dtype, size=steps, tensor_array_name='output')
        zero_output = array_ops.zeros(array_ops.stack([batch, cell.output_size]), dtype)

        def step(t, state, out):
            x, score = arrays[0].read(t), arrays[1].read(t)
            x.set_shape([None, flat[0].shape[2]])
            score.set_shape([None, 1])
            output, new_state = cell(x, state, score)
            finished = t >= sequence_length
            output = array_ops.where(finished, zero_output, output)
            new_state = array_ops.where(finished, state, new_state)
            return t + 1, new_state, out.write(t, output)

        zero_state = cell.zero_state(batch, dtype)
        _, state, output_array = control_flow_ops.while_loop(
            lambda t, *_: t < steps, step, (constant_op.constant(0), zero_state, output_array),
            parallel_iterations=32, swap_memory=False)
        outputs = array_ops.transpose(output_array.stack(), [1, 0, 2])
        outputs.set_shape(tensor_shape.TensorShape([None, None, cell.output_size]))
        return outputs, state


class SequenceModel(object):
    def __init__(self, inputs, columns, args):
        self._args = args
        self.is_training = tf.placeholder_with_default(True, [], name='is_training')
        features, self._label = inputs
        self._embed(features, columns)
        self._network()
        with tf.name_scope('Metrics'):
            self._train_ops()

    def _embed(self, features, columns):
        builder = _LazyBuilder(features)
        initializer = tf.truncated_normal_initializer(stddev=0.1, seed=3)
        with tf.variable_scope('embedding'):
            if self._args.ev and not self._args.tf:
                table = tf.get_embedding_variable('item', embedding_dim=DIM, initializer=initializer)
            else:
                table = tf.get_variable('item', [self._args.items + 1, DIM], initializer=initializer)
        lookup = tf.nn.safe_embedding_lookup_sparse
        if not self._args.tf and self._args.emb_fusion:
            from tensorflow.python.ops.embedding_ops import fused_safe_embedding_lookup_sparse as lookup

        def rows(column, tensor=None):
            ids = column._get_sparse_tensors(builder).id_tensor if tensor is None else tensor
            return lookup(table, ids, combiner='mean')

        self._item = rows(columns['item'])
        history = columns['history']._get_sparse_tensors(builder).id_tensor
        self._length = fc_utils.sequence_length_from_sparse_tensor(history, num_elements=1)
        # One row an element: positions beside the ids, as sequence columns do it.
        flat = tf.SparseTensor(
            tf.stack([tf.range(tf.size(history.values, out_type=tf.int64)), tf.zeros_like(history.values)], 1),
            history.values, tf.stack([tf.size(history.values, out_type=tf.int64), 1]))
        self._history = tf.scatter_nd(
            history.indices, rows(columns['history'], flat),
            tf.concat([history.dense_shape, [DIM]], 0))
        self._user = tf.feature_column.input_layer(
            features, [tf.feature_column.embedding_column(columns['user'], dimension=DIM)])

    def _network(self):
        with tf.variable_scope('rnn_1'):
            outputs, _ = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.GRUCell(DIM), inputs=self._history, sequence_length=self._length, dtype=tf.float32)
        with tf.name_scope('attention'):
            query = tf.tile(tf.expand_dims(self._item, 1), [1, tf.shape(outputs)[1], 1])
            net = tf.concat([query, outputs, query - outputs, query * outputs], axis=-1)
            net = tf.layers.dense(net, 16, activation=tf.nn.sigmoid, name='f1_att')
            scores = tf.reshape(tf.layers.dense(net, 1, name='f3_att'), [-1, 1, tf.shape(outputs)[1]])
            mask = tf.expand_dims(tf.sequence_mask(self._length, tf.shape(outputs)[1]), 1)
            scores = tf.nn.softmax(tf.where(mask, scores, tf.ones_like(scores) * (-2**32 + 1)))
        with tf.variable_scope('rnn_2'):
            _, state = attention_rnn(
                AttentionGRUCell(DIM), outputs, tf.transpose(scores, [0, 2, 1]), self._length, tf.float32)
        net = tf.concat([self._user, self._item, tf.reduce_sum(self._history, 1), state], 1)
        net = tf.layers.batch_normalization(inputs=net, name='bn1', training=self.is_training)
        for i, units in enumerate([32, 16]):
            net = tf.layers.dense(net, units, activation=None, name='fc%d' % i)
            net = self._dice(net, 'dice_%d' % i)
        self._logits = tf.layers.dense(net, 2, activation=None, name='fc')
        self.probability = tf.nn.softmax(self._logits)[:, 1]

    def _dice(self, x, name):
        with tf.variable_scope(name):
            alpha = tf.get_variable('alpha', [x.get_shape()[-1]], initializer=tf.zeros_initializer())
            mean, variance = tf.nn.moments(x, [0])
            p = tf.sigmoid((x - mean) * tf.rsqrt(variance + 1e-9))
            return alpha * (1.0 - p) * x + p * x

    def _train_ops(self):
        label = tf.cast(self._label, tf.float32)
        target = tf.stack([1 - label, label], 1)
        self.loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=target, logits=self._logits))
        self.global_step = tf.train.get_or_create_global_step()
        if self._args.tf:
            optimizer = tf.train.AdamOptimizer(self._args.learning_rate)
        else:
            optimizer = tf.train.AdamAsyncOptimizer(self._args.learning_rate)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            gradients, variables = zip(*optimizer.compute_gradients(self.loss))
            gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
            self.train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=self.global_step)
        self.auc, self.auc_op = tf.metrics.auc(labels=self._label, predictions=self.probability, num_thresholds=1000)
        tf.summary.scalar('loss', self.loss)


def build_columns(args):
    item_file = os.path.join(args.data_location, 'item_voc.txt')
    user_file = os.path.join(args.data_location, 'user_voc.txt')
    vocabulary = tf.feature_column.categorical_column_with_vocabulary_file
    item = vocabulary('ITEM', item_file, default_value=0)
    return {
        'user': vocabulary('UID', user_file, default_value=0),
        'item': item,
        'history': vocabulary('HISTORY', item_file, default_value=0)}


def build_input(path, batch_size, epochs):
    def parse(lines):
        columns = tf.io.decode_csv(lines, [[0], [''], [''], ['']], field_delim='\t')
        features = dict(zip(['UID', 'ITEM', 'HISTORY'], columns[1:]))
        features['HISTORY'] = tf.string_split(features['HISTORY'], '\x02')
        return features, columns[0]

    dataset = tf.data.TextLineDataset(path).shuffle(2000, seed=1).repeat(epochs).batch(batch_size)
    return tf.compat.v1.data.make_initializable_iterator(dataset.map(parse, num_parallel_calls=2).prefetch(1))


def run(args):
    tf.set_random_seed(2021)
    checkpoint_dir = os.path.join(args.output_dir, 'model_SEQUENCE')
    for training in (True, False):
        with tf.Graph().as_default():
            iterator = build_input(
                os.path.join(args.data_location, 'train.txt' if training else 'test.txt'), args.batch_size,
                args.epochs if training else 1)
            inputs = iterator.get_next()
            hooks = []
            if args.smartstaged and not args.tf:
                inputs = tf.staged(inputs, num_threads=1, capacity=4)
                hooks.append(tf.make_prefetch_hook())
            config = tf.ConfigProto()
            config.inter_op_parallelism_threads = args.inter
            if not args.tf:
                config.graph_options.optimizer_options.do_smart_stage = args.smartstaged
                config.graph_options.optimizer_options.do_op_fusion = args.op_fusion
            model = SequenceModel(inputs, build_columns(args), args)
            scaffold = tf.train.Scaffold(local_init_op=tf.group(
                tf.tables_initializer(), tf.local_variables_initializer(), iterator.initializer))
            if training:
                start = time.time()
                with tf.train.MonitoredTrainingSession(
                        checkpoint_dir=checkpoint_dir, scaffold=scaffold, hooks=hooks, save_checkpoint_steps=100,
                        save_summaries_steps=100, config=config, log_step_count_steps=100) as sess:
                    while not sess.should_stop():
                        _, loss = sess.run([model.train_op, model.loss])
                print('Training seconds: %.3f, last loss %.4f' % (time.time() - start, loss))
            else:
                creator = tf.train.ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, config=config)
                with tf.train.MonitoredSession(session_creator=creator, hooks=hooks) as sess:
                    auc = 0.0
                    while not sess.should_stop():
                        try:
                            auc = sess.run(model.auc_op, {model.is_training: False})
                        except tf.errors.OutOfRangeError:
                            break
                print('Evaluation complete: AUC = %.4f' % auc)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--data_location', default='./data')
    parser.add_argument('--output_dir', default='./result')
    parser.add_argument('--batch_size', type=int, default=64)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--items', type=int, default=40)
    parser.add_argument('--learning_rate', type=float, default=0.01)
    parser.add_argument('--inter', type=int, default=0)
    parser.add_argument('--tf', action='store_true')
    for name in ('smartstaged', 'emb_fusion', 'op_fusion', 'ev'):
        parser.add_argument('--' + name, type=lambda text: text.lower() == 'true', default=name != 'ev')
    run(parser.parse_args())
