#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensorflow/core/kernels/bundle_stream_reader.h"
#include "tensorflow/core/kernels/bundle_stream_writer.h"
#include "tensorflow/core/util/tensor_bundle/naming.h"

namespace tensorflow {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor RandomFloats(const TensorShape& shape, uint32_t seed) {
  Tensor tensor(DT_FLOAT, shape);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) tensor.flat<float>()(i) = normal(random);
  return tensor;
}

absl::string_view Bytes(const Tensor& tensor) { return tensor.tensor_data(); }

class BundleStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(env_->LocalTempFilename(&directory_));
    prefix_ = directory_ + "/model.ckpt-1";
  }
  void TearDown() override {
    int64_t files, directories;
    env_->DeleteRecursively(directory_, &files, &directories).IgnoreError();
  }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    EXPECT_TRUE(env_->GetChildren(directory_, &files).ok());
    std::sort(files.begin(), files.end());
    return files;
  }
  // Writes `tensor` in pieces of `piece` bytes.
  void Stream(BundleStreamWriter* writer, int stream, const std::string& name, const Tensor& tensor, int64_t piece) {
    ASSERT_TRUE(writer->Begin(stream, name, tensor.dtype(), tensor.shape()).ok());
    const absl::string_view bytes = Bytes(tensor);
    for (int64_t begin = 0; begin < int64_t(bytes.size()); begin += piece) {
      const int64_t count = std::min<int64_t>(piece, bytes.size() - begin);
      ASSERT_TRUE(writer->Append(stream, bytes.data() + begin, count).ok());
    }
    ASSERT_TRUE(writer->End(stream).ok());
  }
  // What TensorFlow's reader gives.
  Tensor Lookup(const std::string& prefix, const std::string& name) {
    BundleReader reader(env_, prefix);
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    DataType dtype;
    TensorShape shape;
    EXPECT_TRUE(reader.LookupDtypeAndShape(name, &dtype, &shape).ok()) << name;
    Tensor tensor(dtype, shape);
    const absl::Status status = reader.Lookup(name, &tensor);
    EXPECT_TRUE(status.ok()) << status;
    return tensor;
  }
  void WriteSimple(const Tensor& tensor) {
    BundleStreamWriter writer(env_, prefix_);
    Stream(&writer, 0, "x", tensor, 1 << 20);
    ASSERT_TRUE(writer.Finish().ok());
  }
  // Flips a bit of a file.
  void Alter(const std::string& path, int64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = char(file.get());
    file.seekp(at);
    file.put(char(byte ^ 4));
  }
  absl::Status OpenAndVerify(const std::string& name) {
    std::unique_ptr<BundleStreamReader> reader;
    absl::Status status = BundleStreamReader::Open(env_, prefix_, &reader);
    BundleTensor tensor;
    if (status.ok()) status = reader->Find(name, &tensor);
    if (status.ok()) status = reader->Verify(tensor);
    return status;
  }

  Env* const env_ = Env::Default();
  std::string directory_, prefix_;
};

TEST_F(BundleStreamTest, TensorFlowReadsInterleavedStreamsAliasesAndWholeTensors) {
  const Tensor a = RandomFloats({1000, 7}, 1), b = RandomFloats({1000, 3}, 2), c = RandomFloats({5}, 3);
  const Tensor empty(DT_INT64, TensorShape({0}));
  Tensor text(DT_STRING, TensorShape({2}));
  text.flat<tstring>()(0) = "first";
  text.flat<tstring>()(1) = std::string(300, 'x');
  BundleStreamWriter writer(env_, prefix_);
  ASSERT_TRUE(writer.Add("text", text).ok());
  ASSERT_TRUE(writer.Begin(0, "a", a.dtype(), a.shape()).ok());
  ASSERT_TRUE(writer.Begin(2, "b", b.dtype(), b.shape()).ok());
  for (int row = 0; row < 1000; ++row) {
    ASSERT_TRUE(writer.Append(0, Bytes(a).data() + row * 28, 28).ok());
    ASSERT_TRUE(writer.Append(2, Bytes(b).data() + row * 12, 12).ok());
  }
  ASSERT_TRUE(writer.End(0).ok());
  ASSERT_TRUE(writer.End(2).ok());
  Stream(&writer, 0, "c", c, 3);
  Stream(&writer, 1, "empty", empty, 1);
  ASSERT_TRUE(writer.Alias("another a", "a").ok());
  ASSERT_TRUE(writer.Finish().ok());

  EXPECT_EQ(Bytes(Lookup(prefix_, "a")), Bytes(a));
  EXPECT_EQ(Bytes(Lookup(prefix_, "another a")), Bytes(a));
  EXPECT_EQ(Bytes(Lookup(prefix_, "b")), Bytes(b));
  EXPECT_EQ(Bytes(Lookup(prefix_, "c")), Bytes(c));
  EXPECT_EQ(Lookup(prefix_, "empty").shape(), TensorShape({0}));
  EXPECT_EQ(Lookup(prefix_, "text").flat<tstring>()(1), std::string(300, 'x'));
  EXPECT_THAT(Files(), ElementsAre("model.ckpt-1.data-00000-of-00004", "model.ckpt-1.data-00001-of-00004",
                                   "model.ckpt-1.data-00002-of-00004", "model.ckpt-1.data-00003-of-00004",
                                   "model.ckpt-1.index"));
}

TEST_F(BundleStreamTest, SlicesMakeUpTheWhole) {
  const Tensor whole = RandomFloats({4, 3}, 4);
  BundleStreamWriter writer(env_, prefix_);
  for (int part = 0; part < 2; ++part) {
    TensorSlice slice(2);
    slice.set_start(0, 2 * part);
    slice.set_length(0, 2);
    ASSERT_TRUE(writer.AddSlice("whole", whole.shape(), slice, whole.Slice(2 * part, 2 * part + 2)).ok());
  }
  Stream(&writer, 0, "x", whole, 5);
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(Bytes(Lookup(prefix_, "whole")), Bytes(whole));
  std::unique_ptr<BundleStreamReader> reader;
  ASSERT_TRUE(BundleStreamReader::Open(env_, prefix_, &reader).ok());
  BundleTensor tensor;
  EXPECT_TRUE(absl::IsInvalidArgument(reader->Find("whole", &tensor)));
}

TEST_F(BundleStreamTest, MergeBundlesTakesStreamsAndAliases) {
  const Tensor a = RandomFloats({100, 2}, 5), b = RandomFloats({30}, 6);
  const std::string part = directory_ + "/part-0", other = directory_ + "/part-1";
  {
    BundleStreamWriter writer(env_, part);
    Stream(&writer, 0, "a", a, 64);
    ASSERT_TRUE(writer.Alias("same", "a").ok());
    Stream(&writer, 1, "b", b, 64);
    ASSERT_TRUE(writer.Finish().ok());
  }
  {
    BundleWriter writer(env_, other);
    ASSERT_TRUE(writer.Add("c", b).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  const std::vector<tstring> parts{part, other};
  ASSERT_TRUE(MergeBundles(env_, parts, prefix_).ok());
  EXPECT_EQ(Bytes(Lookup(prefix_, "a")), Bytes(a));
  EXPECT_EQ(Bytes(Lookup(prefix_, "same")), Bytes(a));
  EXPECT_EQ(Bytes(Lookup(prefix_, "b")), Bytes(b));
  EXPECT_EQ(Bytes(Lookup(prefix_, "c")), Bytes(b));
}

TEST_F(BundleStreamTest, ReadsPiecesOfWhatTensorFlowWrote) {
  const Tensor a = RandomFloats({50, 4}, 7), b = RandomFloats({3}, 8);
  BundleWriter writer(env_, prefix_);
  ASSERT_TRUE(writer.Add("b", b).ok());
  ASSERT_TRUE(writer.Add("a", a).ok());
  ASSERT_TRUE(writer.Finish().ok());
  std::unique_ptr<BundleStreamReader> reader;
  ASSERT_TRUE(BundleStreamReader::Open(env_, prefix_, &reader).ok());
  bool found;
  EXPECT_TRUE(reader->Contains("a", &found).ok() && found);
  EXPECT_TRUE(reader->Contains("aa", &found).ok() && !found);
  BundleTensor tensor;
  ASSERT_TRUE(reader->Find("a", &tensor).ok());
  EXPECT_EQ(tensor.shape, a.shape());
  EXPECT_TRUE(reader->Verify(tensor).ok());
  std::string piece(160, ' ');
  ASSERT_TRUE(reader->Read(tensor, 320, 160, piece.data()).ok());
  EXPECT_EQ(piece, Bytes(a).substr(320, 160));
  EXPECT_TRUE(absl::IsNotFound(reader->Find("none", &tensor)));
}

TEST_F(BundleStreamTest, SavingAgainReplacesTheCheckpointAndItsDataFiles) {
  const Tensor before = RandomFloats({20}, 9), after = RandomFloats({20}, 10);
  WriteSimple(before);
  EXPECT_THAT(Files(), ElementsAre("model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"));
  // The new data file has another name: until the index changes, the old checkpoint is whole.
  WriteSimple(after);
  EXPECT_EQ(Bytes(Lookup(prefix_, "x")), Bytes(after));
  EXPECT_THAT(Files(), ElementsAre("model.ckpt-1.data-00000-of-00002", "model.ckpt-1.data-00001-of-00002",
                                   "model.ckpt-1.index"));
  WriteSimple(before);
  EXPECT_EQ(Bytes(Lookup(prefix_, "x")), Bytes(before));
  EXPECT_THAT(Files(), ElementsAre("model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"));
}

TEST_F(BundleStreamTest, WhatIsNotFinishedLeavesNothing) {
  const Tensor a = RandomFloats({20}, 11);
  WriteSimple(a);
  {
    BundleStreamWriter writer(env_, prefix_);
    ASSERT_TRUE(writer.Add("y", a).ok());
    Stream(&writer, 0, "x", RandomFloats({20}, 12), 16);
  }
  EXPECT_EQ(Bytes(Lookup(prefix_, "x")), Bytes(a));
  EXPECT_THAT(Files(), ElementsAre("model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"));
}

TEST_F(BundleStreamTest, RefusesNamesThatComeTwiceAndTensorsOfTheWrongLength) {
  const Tensor a = RandomFloats({20}, 13);
  BundleStreamWriter writer(env_, prefix_);
  Stream(&writer, 0, "a", a, 80);
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Begin(1, "a", DT_FLOAT, TensorShape({1}))));
  ASSERT_TRUE(writer.Begin(0, "b", DT_FLOAT, TensorShape({2})).ok());
  EXPECT_TRUE(absl::IsInternal(writer.End(0)));
  EXPECT_FALSE(writer.Finish().ok());
  BundleStreamWriter twice(env_, prefix_);
  ASSERT_TRUE(twice.Add("a", a).ok());
  Stream(&twice, 0, "a", a, 80);
  const absl::Status status = twice.Finish();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("Tensor a "), HasSubstr(prefix_)));
}

TEST_F(BundleStreamTest, AlteredBytesAreFoundByName) {
  WriteSimple(RandomFloats({1000, 500}, 14));
  EXPECT_TRUE(OpenAndVerify("x").ok());
  const std::string data = DataFilename(prefix_, 0, 1);
  Alter(data, 1999999);
  absl::Status status = OpenAndVerify("x");
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("Tensor x "), HasSubstr(data)));
  Alter(data, 1999999);
  EXPECT_TRUE(OpenAndVerify("x").ok());
}

TEST_F(BundleStreamTest, NamesInAnAlteredBlockOfTheIndexDoNotPassForAbsent) {
  constexpr int kNames = 3000;
  const auto name = [](int i) { return absl::StrCat("x", 10000 + i, std::string(200, char('a' + i % 26))); };
  {
    BundleStreamWriter writer(env_, prefix_);
    Stream(&writer, 0, "x", RandomFloats({3}, 16), 12);
    for (int i = 0; i < kNames; ++i) ASSERT_TRUE(writer.Alias(name(i), "x").ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  Alter(MetaFilename(prefix_), 400000);
  std::unique_ptr<BundleStreamReader> reader;
  ASSERT_TRUE(BundleStreamReader::Open(env_, prefix_, &reader).ok());
  int there = 0, unknown = 0;
  for (int i = 0; i < kNames; ++i) {
    bool found = false;
    const absl::Status status = reader->Contains(name(i), &found);
    BundleTensor tensor;
    EXPECT_EQ(status, reader->Find(name(i), &tensor));
    if (status.ok()) {
      EXPECT_TRUE(found);
      ++there;
    } else {
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(MetaFilename(prefix_)));
      ++unknown;
    }
  }
  EXPECT_GT(there, 500);
  EXPECT_GT(unknown, 500);
}

TEST_F(BundleStreamTest, FilesCutShortAreRefusedByName) {
  WriteSimple(RandomFloats({100}, 15));
  const std::string data = DataFilename(prefix_, 0, 1), index = MetaFilename(prefix_);
  ASSERT_EQ(truncate(data.c_str(), 399), 0);
  absl::Status status = OpenAndVerify("x");
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("tensor x "), HasSubstr(data)));
  ASSERT_TRUE(env_->DeleteFile(data).ok());
  status = OpenAndVerify("x");
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(data));
  uint64_t size;
  ASSERT_TRUE(env_->GetFileSize(index, &size).ok());
  for (const uint64_t cut : {size - 1, size / 2, uint64_t{0}}) {
    ASSERT_EQ(truncate(index.c_str(), cut), 0);
    status = OpenAndVerify("x");
    EXPECT_TRUE(absl::IsDataLoss(status)) << cut << " " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(index));
  }
  ASSERT_TRUE(env_->DeleteFile(index).ok());
  EXPECT_TRUE(absl::IsNotFound(OpenAndVerify("x")));
}

}  // namespace
}  // namespace tensorflow
