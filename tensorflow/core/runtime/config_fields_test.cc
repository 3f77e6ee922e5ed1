#include "tensorflow/core/runtime/config_fields.h"

#include <string>

#include "gtest/gtest.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace deeprec {
namespace runtime {
namespace {

// A field in wire format: a varint, or bytes.
std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes.push_back(char(value | 128));
  bytes.push_back(char(value));
  return bytes;
}
std::string Number(int field, uint64_t value) { return Varint(uint64_t(field) << 3) + Varint(value); }
std::string Bytes(int field, const std::string& value) {
  return Varint(uint64_t(field) << 3 | 2) + Varint(value.size()) + value;
}

tensorflow::ConfigProto Config(const std::string& bytes) {
  tensorflow::ConfigProto config;
  EXPECT_TRUE(config.ParseFromString(bytes));
  return config;
}

std::string InOptimizerOptions(const std::string& bytes) { return Bytes(10, Bytes(3, bytes)); }

TEST(ConfigFieldsTest, SilentConfig) {
  const ConfigFields fields = ReadConfigFields(tensorflow::ConfigProto());
  EXPECT_EQ(fields.executor_policy, ExecutorPolicy::kNormal);
  EXPECT_EQ(fields.micro_batch_num, 0);
  EXPECT_FALSE(fields.do_op_fusion || fields.do_smart_stage || fields.do_async_embedding || fields.tensor_fuse);
  EXPECT_TRUE(fields.stage_thread_pools.empty());
}

TEST(ConfigFieldsTest, EveryField) {
  const ConfigFields fields = ReadConfigFields(Config(
      Number(201, 1) + Number(203, 1) + Number(204, 1) + Number(205, 2) +
      Bytes(2001, Number(1, 8) + Number(2, 4) + Bytes(3, "pool")) + Bytes(2001, Number(1, 2)) +
      InOptimizerOptions(Number(9, 3) + Number(10, 1) + Number(2001, 1) + Number(2002, 1))));
  EXPECT_TRUE(fields.tensor_fuse && fields.run_graph_mode && fields.run_graph_mode_lite);
  EXPECT_EQ(fields.executor_policy, ExecutorPolicy::kInline);
  EXPECT_EQ(fields.micro_batch_num, 3);
  EXPECT_TRUE(fields.do_smart_stage && fields.do_op_fusion && fields.do_async_embedding);
  ASSERT_EQ(fields.stage_thread_pools.size(), 2u);
  EXPECT_EQ(fields.stage_thread_pools[0].inter_op_threads, 8);
  EXPECT_EQ(fields.stage_thread_pools[0].intra_op_threads, 4);
  EXPECT_EQ(fields.stage_thread_pools[0].global_name, "pool");
  EXPECT_EQ(fields.stage_thread_pools[1].inter_op_threads, 2);
}

TEST(ConfigFieldsTest, TheLastValueCounts) {
  EXPECT_EQ(ReadExecutorPolicy(Config(Number(205, 2) + Number(205, 1))), ExecutorPolicy::kCostModel);
}

TEST(ConfigFieldsTest, WhatIsNotUnderstoodHasItsDefault) {
  const ConfigFields fields =
      ReadConfigFields(Config(Number(205, 77) + Bytes(201, "x") + Bytes(2001, "\xff") + InOptimizerOptions(Bytes(9, ""))));
  EXPECT_EQ(fields.executor_policy, ExecutorPolicy::kNormal);
  EXPECT_FALSE(fields.tensor_fuse);
  EXPECT_EQ(fields.micro_batch_num, 0);
  ASSERT_EQ(fields.stage_thread_pools.size(), 1u);
  EXPECT_EQ(fields.stage_thread_pools[0].inter_op_threads, 0);
}

TEST(ConfigFieldsTest, TheyOutliveACopyAndAnotherProcess) {
  tensorflow::ConfigProto sent = Config(Number(205, 2) + InOptimizerOptions(Number(9, 3)));
  const tensorflow::ConfigProto copy = sent;
  const ConfigFields fields = ReadConfigFields(Config(copy.SerializeAsString()));
  EXPECT_EQ(fields.executor_policy, ExecutorPolicy::kInline);
  EXPECT_EQ(fields.micro_batch_num, 3);
}

}  // namespace
}  // namespace runtime
}  // namespace deeprec
