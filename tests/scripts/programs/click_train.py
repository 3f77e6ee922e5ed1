"""A click model as scripts for DeepRec are written: command-line switches, feature columns, a staged input, a monitored session.

Nothing in it knows of this project; with --tf it uses nothing but TensorFlow 1.15.
"""
import argparse
import collections
import os
import sys
import time

import tensorflow as tf
from tensorflow.core.framework import summary_pb2
from tensorflow.python.client import timeline
from tensorflow.python.framework import ops
from tensorflow.python.ops import partitioned_variables

tf.logging.set_verbosity(tf.logging.INFO)

USER_COLUMNS = ['user_id', 'city', 'age_level']
ITEM_COLUMNS = ['item_id', 'shop_id']
HISTORY_COLUMNS = ['shop_history']
NUMBER_COLUMNS = ['price', 'clicks_30']
COLUMNS = ['label'] + USER_COLUMNS + ITEM_COLUMNS + HISTORY_COLUMNS + NUMBER_COLUMNS
DEFAULTS = [[0]] + [['']] * (len(USER_COLUMNS) + len(ITEM_COLUMNS) + len(HISTORY_COLUMNS)) + [[0.0]] * len(NUMBER_COLUMNS)


class ClickModel(object):
    def __init__(self, columns, inputs, args, input_partitioner=None, dense_partitioner=None):
        self._features, self._label = inputs[0], inputs[1]
        self._columns = columns
        self._args = args
        self._input_partitioner = input_partitioner
        self._dense_partitioner = dense_partitioner
        self.is_training = tf.placeholder_with_default(True, [], name='is_training')
        self._create_model()
        with tf.name_scope('head'):
            self._create_loss()
            self._create_optimizer()
            self._create_metrics()

    def _add_summary(self, values, name):
        tf.summary.scalar('%s/fraction_of_zero_values' % name, tf.nn.zero_fraction(values))
        tf.summary.histogram('%s/activation' % name, values)

    def _create_model(self):
        with tf.variable_scope('input_layer', partitioner=self._input_partitioner, reuse=tf.AUTO_REUSE):
            if self._args.group_embedding and not self._args.tf:
                outputs = {}
                tf.feature_column.input_layer(self._features, self._columns['deep'], cols_to_output_tensors=outputs)
                net = tf.concat([outputs[column] for column in self._columns['deep']], 1)
            else:
                net = tf.feature_column.input_layer(self._features, self._columns['deep'])
        self._add_summary(net, 'input_layer')
        scope = tf.variable_scope('dnn', partitioner=self._dense_partitioner, reuse=tf.AUTO_REUSE)
        with scope.keep_weights(dtype=tf.float32) if self._args.bf16 and not self._args.tf else scope:
            if self._args.bf16:
                net = tf.cast(net, tf.bfloat16)
            for i, units in enumerate([32, 16]):
                with tf.variable_scope('hiddenlayer_%d' % i) as layer_scope:
                    net = tf.layers.dense(net, units=units, activation=tf.nn.relu, name=layer_scope)
                    if not self._args.bf16:
                        net = tf.layers.batch_normalization(net, training=self.is_training, trainable=True)
                    self._add_summary(net, layer_scope.name)
            deep = tf.layers.dense(net, units=1, activation=None, name='logits')
            if self._args.bf16:
                deep = tf.cast(deep, tf.float32)
        with tf.variable_scope('linear', partitioner=self._input_partitioner):
            wide = tf.feature_column.linear_model(self._features, self._columns['wide'], units=1, sparse_combiner='sum')
        self._logits = deep + wide
        self.probability = tf.math.sigmoid(self._logits)
        self.output = tf.round(self.probability)

    def _create_loss(self):
        self._label = tf.reshape(tf.cast(self._label, tf.float32), [-1, 1])
        bce = tf.keras.losses.BinaryCrossentropy()
        self.loss = tf.math.reduce_mean(bce(self._label, self.probability))
        tf.summary.scalar('loss', self.loss)

    def _create_optimizer(self):
        self.global_step = tf.train.get_or_create_global_step()
        name, rate = self._args.optimizer, self._args.learning_rate
        if self._args.tf or name == 'adam':
            optimizer = tf.train.AdamOptimizer(learning_rate=rate, beta1=0.9, beta2=0.999, epsilon=1e-8)
        elif name == 'adamasync':
            optimizer = tf.train.AdamAsyncOptimizer(learning_rate=rate, beta1=0.9, beta2=0.999, epsilon=1e-8)
        elif name == 'adagraddecay':
            optimizer = tf.train.AdagradDecayOptimizer(learning_rate=rate, global_step=self.global_step)
        else:
            raise ValueError('optimizer: %s' % name)
        wide_optimizer = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.0, l2_regularization_strength=0.0)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            deep_op = optimizer.minimize(
                self.loss,
                var_list=ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope='input_layer')
                + ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope='dnn'),
                global_step=self.global_step)
            wide_op = wide_optimizer.minimize(
                self.loss, var_list=ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope='linear'))
        self.train_op = tf.group(deep_op, wide_op)

    def _create_metrics(self):
        self.acc, self.acc_op = tf.metrics.accuracy(labels=self._label, predictions=self.output)
        self.auc, self.auc_op = tf.metrics.auc(labels=self._label, predictions=self.probability, num_thresholds=1000)
        tf.summary.scalar('eval_auc', self.auc)


def build_columns(args):
    def category(name, buckets):
        if args.tf or not args.ev:
            return tf.feature_column.categorical_column_with_hash_bucket(name, hash_bucket_size=buckets, dtype=tf.string)
        evict, filter_option = None, None
        if args.ev_elimination == 'gstep':
            evict = tf.GlobalStepEvict(steps_to_live=4000)
        elif args.ev_elimination == 'l2':
            evict = tf.L2WeightEvict(l2_weight_threshold=1.0)
        if args.ev_filter == 'counter':
            filter_option = tf.CounterFilter(filter_freq=3)
        elif args.ev_filter == 'cbf':
            filter_option = tf.CBFFilter(
                filter_freq=3, max_element_size=2**20, false_positive_probability=0.01, counter_type=tf.int64)
        ev_opt = tf.EmbeddingVariableOption(evict_option=evict, filter_option=filter_option)
        return tf.feature_column.categorical_column_with_embedding(name, dtype=tf.string, ev_option=ev_opt)

    fusion = {} if args.tf else {'do_fusion': args.emb_fusion}
    deep = [tf.feature_column.numeric_column(name, shape=(1,), normalizer_fn=lambda x: x / 100.0) for name in NUMBER_COLUMNS]
    group = None
    if args.group_embedding and not args.tf:
        group = tf.feature_column.group_embedding_column_scope(name='deep')
        group.__enter__()
    for name in ['user_id', 'city', 'item_id']:
        deep.append(tf.feature_column.embedding_column(category(name, 1000), dimension=8, combiner='mean', **fusion))
    shared = {} if group else fusion
    deep += tf.feature_column.shared_embedding_columns(
        [category('shop_id', 1000), category('shop_history', 1000)], dimension=8, combiner='mean', **shared)
    if group:
        group.__exit__(None, None, None)
    if not (args.group_embedding and not args.tf):
        age = tf.feature_column.categorical_column_with_vocabulary_list('age_level', ['a', 'b', 'c'])
        deep.append(tf.feature_column.indicator_column(age))
    wide = [tf.feature_column.categorical_column_with_hash_bucket(name, 1000) for name in USER_COLUMNS + ITEM_COLUMNS]
    return {'deep': deep, 'wide': wide}


def build_input(filename, batch_size, num_epochs, args):
    def parse(value):
        tf.logging.info('Parsing {}'.format(filename))
        values = tf.io.decode_csv(value, record_defaults=DEFAULTS)
        features = collections.OrderedDict(zip(COLUMNS, values))
        label = features.pop('label')
        return features, label

    files = filename.split(',')
    if args.workqueue and not args.tf:
        from tensorflow.python.ops.work_queue import WorkQueue
        files = WorkQueue(files, shuffle=True, num_epochs=num_epochs).input_dataset()
        num_epochs = 1
    dataset = tf.data.TextLineDataset(files)
    dataset = dataset.shuffle(buffer_size=20000, seed=args.seed)
    dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size)
    dataset = dataset.map(parse, num_parallel_calls=28)
    return dataset.prefetch(2)


def split_history(features):
    features = dict(features)
    for name in HISTORY_COLUMNS:
        features[name] = tf.string_split(features[name], ';')
    return features


def train(session_config, model, hooks, args, checkpoint_dir, steps):
    hooks = hooks + [
        tf.train.NanTensorHook(model.loss),
        tf.train.LoggingTensorHook({'steps': model.global_step, 'loss': model.loss}, every_n_iter=100)]
    if steps:
        hooks.append(tf.train.StopAtStepHook(last_step=steps))
    if args.timeline > 0:
        hooks.append(tf.train.ProfilerHook(save_steps=args.timeline, output_dir=checkpoint_dir))
    scaffold = tf.train.Scaffold(
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer(), model.iterator_init),
        saver=tf.train.Saver(max_to_keep=2))
    start = time.perf_counter()
    with tf.train.MonitoredTrainingSession(
            master='', is_chief=True, hooks=hooks, scaffold=scaffold, checkpoint_dir=checkpoint_dir,
            save_checkpoint_steps=args.save_steps, summary_dir=checkpoint_dir, save_summaries_steps=args.save_steps,
            config=session_config) as sess:
        while not sess.should_stop():
            sess.run([model.loss, model.train_op])
    print('Training seconds: %.3f' % (time.perf_counter() - start))


def evaluate(session_config, model, hooks, checkpoint_dir, steps):
    model.is_training_value = False
    hooks = hooks + [tf.train.StopAtStepHook(last_step=10**9)]
    scaffold = tf.train.Scaffold(
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer(), model.iterator_init))
    creator = tf.train.ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, config=session_config)
    writer = tf.summary.FileWriter(os.path.join(checkpoint_dir, 'eval'))
    with tf.train.MonitoredSession(session_creator=creator, hooks=hooks[:-1]) as sess:
        for _ in range(steps):
            sess.run([model.acc_op, model.auc_op], feed_dict={model.is_training: False})
        accuracy, auc, step = sess.run([model.acc, model.auc, model.global_step], feed_dict={model.is_training: False})
        writer.add_summary(summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag='auc', simple_value=auc)]), step)
    writer.close()
    print('Evaluation complete: step %d ACC = %.4f AUC = %.4f' % (step, accuracy, auc))


def traced_step(session_config, model, checkpoint_dir):
    scaffold = tf.train.Scaffold(
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer(), model.iterator_init))
    creator = tf.train.ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, config=session_config)
    options, metadata = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()
    with tf.train.MonitoredSession(session_creator=creator, hooks=[tf.make_prefetch_hook()] if model.staged else []) as sess:
        sess.run(model.train_op, options=options, run_metadata=metadata)
    with open(os.path.join(checkpoint_dir, 'one_step.json'), 'w') as trace:
        trace.write(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format())


def main(args):
    train_file, eval_file = os.path.join(args.data_location, 'train.csv'), os.path.join(args.data_location, 'eval.csv')
    for name in (train_file, eval_file):
        if not os.path.exists(name):
            print('Dataset does not exist in the given data_location.')
            sys.exit(1)
    with open(train_file) as lines:
        train_rows = sum(1 for _ in lines)
    with open(eval_file) as lines:
        eval_rows = sum(1 for _ in lines)
    steps = args.steps or train_rows // args.batch_size
    checkpoint_dir = os.path.join(args.output_dir, 'model_CLICK')
    tf.set_random_seed(args.seed)

    train_set = build_input(train_file, args.batch_size, 1 + steps * args.batch_size // train_rows, args)
    eval_set = build_input(eval_file, args.batch_size, 1, args)
    iterator = tf.data.Iterator.from_structure(train_set.output_types, train_set.output_shapes)
    features, label = iterator.get_next()
    features = split_history(features)
    staged = args.smartstaged and not args.tf
    hooks = []
    if staged:
        features, label = tf.staged([features, label], num_threads=4, capacity=40)
        hooks.append(tf.make_prefetch_hook())

    input_partitioner = dense_partitioner = None
    if args.input_layer_partitioner:
        input_partitioner = partitioned_variables.min_max_variable_partitioner(
            max_partitions=8, min_slice_size=args.input_layer_partitioner << 10)
    if args.dense_layer_partitioner:
        dense_partitioner = partitioned_variables.min_max_variable_partitioner(
            max_partitions=8, min_slice_size=args.dense_layer_partitioner << 10)
    model = ClickModel(build_columns(args), (features, label), args, input_partitioner, dense_partitioner)
    model.staged = staged
    model.iterator_init = iterator.make_initializer(train_set)
    eval_init = iterator.make_initializer(eval_set)

    session_config = tf.ConfigProto()
    session_config.inter_op_parallelism_threads = args.inter
    session_config.intra_op_parallelism_threads = args.intra
    session_config.allow_soft_placement = True
    if staged:
        session_config.graph_options.optimizer_options.do_smart_stage = True
    if not args.tf:
        if args.op_fusion:
            session_config.graph_options.optimizer_options.do_op_fusion = True
        if args.micro_batch:
            session_config.graph_options.optimizer_options.micro_batch_num = args.micro_batch

    train(session_config, model, list(hooks), args, checkpoint_dir, steps)
    traced_step(session_config, model, checkpoint_dir)
    if not args.no_eval:
        model.iterator_init = eval_init
        evaluate(session_config, model, list(hooks), checkpoint_dir, eval_rows // (args.batch_size * max(args.micro_batch, 1)))


def boolean_string(string):
    lowered = string.lower()
    if lowered not in {'false', 'true'}:
        raise ValueError('Not a valid boolean string')
    return lowered == 'true'


def get_arg_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument('--data_location', type=str, default='./data')
    parser.add_argument('--steps', type=int, default=0)
    parser.add_argument('--batch_size', type=int, default=512)
    parser.add_argument('--output_dir', type=str, default='./result')
    parser.add_argument('--save_steps', type=int, default=50)
    parser.add_argument('--seed', type=int, default=2021)
    parser.add_argument('--timeline', type=int, default=0)
    parser.add_argument('--no_eval', action='store_true')
    parser.add_argument('--inter', type=int, default=0)
    parser.add_argument('--intra', type=int, default=0)
    parser.add_argument('--learning_rate', type=float, default=0.01)
    parser.add_argument('--optimizer', type=str, choices=['adam', 'adamasync', 'adagraddecay'], default='adamasync')
    parser.add_argument('--input_layer_partitioner', type=int, default=0)
    parser.add_argument('--dense_layer_partitioner', type=int, default=0)
    parser.add_argument('--bf16', action='store_true')
    parser.add_argument('--tf', action='store_true')
    parser.add_argument('--smartstaged', type=boolean_string, default=True)
    parser.add_argument('--emb_fusion', type=boolean_string, default=True)
    parser.add_argument('--op_fusion', type=boolean_string, default=True)
    parser.add_argument('--micro_batch', type=int, default=0)
    parser.add_argument('--group_embedding', action='store_true')
    parser.add_argument('--workqueue', type=boolean_string, default=False)
    parser.add_argument('--ev', type=boolean_string, default=False)
    parser.add_argument('--ev_elimination', type=str, choices=[None, 'l2', 'gstep'], default=None)
    parser.add_argument('--ev_filter', type=str, choices=[None, 'counter', 'cbf'], default=None)
    return parser


if __name__ == '__main__':
    os.environ['START_STATISTIC_STEP'] = '100'
    os.environ['STOP_STATISTIC_STEP'] = '110'
    main(get_arg_parser().parse_args())
