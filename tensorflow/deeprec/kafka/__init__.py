"""Messages of Kafka: KafkaDataset, KafkaGroupIODataset, write_kafka.

The datasets are C++ (`core/kafka`, `core/kernels/kafka_dataset_op.cc`) on librdkafka, which is loaded when a program makes the first one.
"""
