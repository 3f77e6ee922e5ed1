#include "tensorflow/core/runtime/config_fields.h"

#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace deeprec {
namespace runtime {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// The numbers of deeprec/config/fields.py.
enum ConfigNumber { kTensorFuse = 201, kRunGraphMode = 203, kRunGraphModeLite = 204, kExecutorPolicy = 205, kPools = 2001 };
enum OptimizerNumber { kMicroBatchNum = 9, kDoSmartStage = 10, kDoOpFusion = 2001, kDoAsyncEmbedding = 2002 };
enum PoolNumber { kInterOpThreads = 1, kIntraOpThreads = 2, kGlobalName = 3 };

const UnknownFieldSet& Unknown(const google::protobuf::Message& message) {
  return message.GetReflection()->GetUnknownFields(message);
}

// Calls `number(field number, value)` and `bytes(field number, value)` for the fields of these two wire types.
template <class Number, class Bytes>
void ForEach(const UnknownFieldSet& fields, Number number, Bytes bytes) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    if (field.type() == UnknownField::TYPE_VARINT) number(field.number(), field.varint());
    if (field.type() == UnknownField::TYPE_LENGTH_DELIMITED) bytes(field.number(), field.length_delimited());
  }
}

ExecutorPolicy PolicyOf(uint64_t value) { return value <= 2 ? ExecutorPolicy(value) : ExecutorPolicy::kNormal; }

StageThreadPool PoolOf(const std::string& serialized) {
  StageThreadPool pool;
  UnknownFieldSet fields;
  if (!fields.ParseFromString(serialized)) return pool;
  ForEach(
      fields,
      [&](int field, uint64_t value) {
        if (field == kInterOpThreads) pool.inter_op_threads = int32_t(value);
        if (field == kIntraOpThreads) pool.intra_op_threads = int32_t(value);
      },
      [&](int field, const auto& value) {
        if (field == kGlobalName) pool.global_name = std::string(value);
      });
  return pool;
}

}  // namespace

ExecutorPolicy ReadExecutorPolicy(const tensorflow::ConfigProto& config) {
  ExecutorPolicy policy = ExecutorPolicy::kNormal;
  ForEach(
      Unknown(config),
      [&](int field, uint64_t value) {
        if (field == kExecutorPolicy) policy = PolicyOf(value);
      },
      [](int, const auto&) {});
  return policy;
}

ConfigFields ReadConfigFields(const tensorflow::ConfigProto& config) {
  ConfigFields found;
  found.executor_policy = ReadExecutorPolicy(config);
  ForEach(
      Unknown(config),
      [&](int field, uint64_t value) {
        if (field == kTensorFuse) found.tensor_fuse = value != 0;
        if (field == kRunGraphMode) found.run_graph_mode = value != 0;
        if (field == kRunGraphModeLite) found.run_graph_mode_lite = value != 0;
      },
      [&](int field, const auto& value) {
        if (field == kPools) found.stage_thread_pools.push_back(PoolOf(std::string(value)));
      });
  ForEach(
      Unknown(config.graph_options().optimizer_options()),
      [&](int field, uint64_t value) {
        if (field == kMicroBatchNum) found.micro_batch_num = int32_t(value);
        if (field == kDoSmartStage) found.do_smart_stage = value != 0;
        if (field == kDoOpFusion) found.do_op_fusion = value != 0;
        if (field == kDoAsyncEmbedding) found.do_async_embedding = value != 0;
      },
      [](int, const auto&) {});
  return found;
}

}  // namespace runtime
}  // namespace deeprec
