// What texts and messages hold, and that what is none is refused.

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/strings/feature_lists.h"
#include "tensorflow/core/strings/number_lists.h"
#include "tensorflow/core/strings/split.h"

namespace deeprec {
namespace strings {
namespace {

template <class T>
std::vector<T> Numbers(std::string_view text, char delimiter = ',') {
  std::vector<T> numbers;
  EXPECT_TRUE(ParseNumbers(text, delimiter, &numbers)) << text;
  return numbers;
}

template <class T>
bool IsList(std::string_view text, char delimiter = ',') {
  std::vector<T> numbers;
  return ParseNumbers(text, delimiter, &numbers);
}

using Longs = std::vector<int64_t>;

TEST(Numbers, AreReadInOrder) {
  EXPECT_EQ(Numbers<int64_t>("2,10"), (Longs{2, 10}));
  EXPECT_EQ(Numbers<int64_t>(" 2 , 10 ,+7,-0,"), (Longs{2, 10, 7, 0}));
  EXPECT_EQ(Numbers<int64_t>(""), Longs{});
  EXPECT_EQ(Numbers<int64_t>("9223372036854775807,-9223372036854775808"), (Longs{INT64_MAX, INT64_MIN}));
  EXPECT_EQ(Numbers<float>("0.2,  0.1, +.3 "), (std::vector<float>{0.2f, 0.1f, 0.3f}));
  EXPECT_EQ(Numbers<double>("-.1e-1,5.,1E3"), (std::vector<double>{-0.01, 5, 1000}));
}

TEST(Numbers, SeveralBlanksAreOneDelimiter) {
  EXPECT_EQ(Numbers<int64_t>("  1  2 3   ", ' '), (Longs{1, 2, 3}));
}

TEST(Numbers, OtherTextIsRefused) {
  for (const char* text : {"a", "1,,2", ",1", "1, ", " ", "1;2", "1 2", "1.5", "--1", "+-1", "+", "-",
                           "9223372036854775808", "0x10", "1e2", "1:2"}) {
    EXPECT_FALSE(IsList<int64_t>(text)) << text;
  }
  EXPECT_FALSE(IsList<int32_t>("2147483648"));
  for (const char* text : {"inf", "nan", "0x1p3", "1e99", "1e", ".", "1.2.3", "1-2", ""}) {
    EXPECT_EQ(IsList<float>(text), *text == 0) << text;
  }
  EXPECT_TRUE(IsList<double>("1e99"));
}

TEST(Numbers, LongOnesToo) {
  EXPECT_EQ(Numbers<double>(std::string(100, '0') + "5"), std::vector<double>{5});
  EXPECT_EQ(Numbers<float>(std::string(63, '0') + "5"), std::vector<float>{5});
}

TEST(Numbers, AnyBytesAreReadWithinBounds) {
  std::mt19937 random(7);
  const std::string alphabet = "0123456789+-.eE,: x";
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 12, 0);
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    // A copy of the exact size, so that the sanitizer sees a read behind it.
    const std::vector<char> exact(text.begin(), text.end());
    const std::string_view view(exact.data(), exact.size());
    std::vector<std::pair<int64_t, float>> pairs;
    IsList<double>(view);
    IsList<int32_t>(view, ' ');
    ParsePairs(view, ',', &pairs);
  }
}

TEST(Pairs, AreReadInOrder) {
  std::vector<std::pair<int64_t, float>> pairs;
  ASSERT_TRUE(ParsePairs("2:2.5, 10 : -1 ,0:.5", ',', &pairs));
  EXPECT_EQ(pairs, (std::vector<std::pair<int64_t, float>>{{2, 2.5f}, {10, -1}, {0, 0.5f}}));
  pairs.clear();
  ASSERT_TRUE(ParsePairs(" 1:2  3:4 ", ' ', &pairs));
  EXPECT_EQ(pairs, (std::vector<std::pair<int64_t, float>>{{1, 2}, {3, 4}}));
}

TEST(Pairs, OtherTextIsRefused) {
  std::vector<std::pair<int64_t, float>> pairs;
  for (const char* text : {"1", "1:", ":1", "1:2:3", "1.5:2", "1:2,,", "a:1", "1:2;3:4"}) {
    EXPECT_FALSE(ParsePairs(text, ',', &pairs)) << text;
  }
}

TEST(Delimiters, AreNoPartOfNumbers) {
  for (const char* good : {",", ";", " ", "|", "\t", "\x02"}) EXPECT_TRUE(IsDelimiter(good)) << good;
  for (const char* bad : {"", "0", "9", "+", "-", "e", "E", ".", ":", ",,"}) EXPECT_FALSE(IsDelimiter(bad)) << bad;
  EXPECT_FALSE(IsDelimiter(std::string_view("\0", 1)));
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string Bytes(int field, const std::string& payload) {
  return Varint(field << 3 | 2) + Varint(payload.size()) + payload;
}

std::string Float(float value) {
  std::string bytes(4, 0);
  std::memcpy(&bytes[0], &value, 4);
  return bytes;
}

TEST(Lists, PackedAndNot) {
  Longs longs;
  ASSERT_TRUE(ReadInt64List(Bytes(1, Varint(5) + Varint(300)) + "\x08" + Varint(-1), &longs));
  EXPECT_EQ(longs, (Longs{5, 300, -1}));
  std::vector<float> floats;
  ASSERT_TRUE(ReadFloatList(Bytes(1, Float(1.5f)) + "\x0d" + Float(-2), &floats));
  EXPECT_EQ(floats, (std::vector<float>{1.5f, -2}));
  std::vector<int32_t> ints;
  ASSERT_TRUE(ReadInt32List(Bytes(1, Varint(7) + Varint(-3)), &ints));
  EXPECT_EQ(ints, (std::vector<int32_t>{7, -3}));
}

TEST(Lists, OtherFieldsAreSkipped) {
  Longs longs;
  ASSERT_TRUE(ReadInt64List(Bytes(3, "abc") + "\x20" + Varint(9) + "\x2d" + "1234" + "\x31" + "12345678" +
                                Bytes(1, Varint(4)),
                            &longs));
  EXPECT_EQ(longs, (Longs{4}));
}

TEST(Lists, DamageIsRefused) {
  const std::string good = Bytes(1, Varint(5) + Varint(300));
  Longs longs;
  for (size_t size = 1; size < good.size(); ++size) {
    EXPECT_FALSE(ReadInt64List(good.substr(0, size), &longs)) << size;
  }
  EXPECT_FALSE(ReadInt64List(Bytes(1, std::string(11, '\xff')), &longs));
  EXPECT_FALSE(ReadInt64List(std::string("\0\1", 2), &longs));   // field 0
  EXPECT_FALSE(ReadInt64List("\x0b", &longs));                   // a group
  EXPECT_FALSE(ReadInt64List("\x0d" "1234", &longs));            // a float
  EXPECT_FALSE(ReadInt64List("\x0a" + Varint(UINT64_MAX), &longs));
  std::vector<float> floats;
  EXPECT_FALSE(ReadFloatList(Bytes(1, "12345"), &floats));
  EXPECT_FALSE(ReadFloatList("\x08\x01", &floats));
  std::vector<int32_t> ints;
  EXPECT_FALSE(ReadInt32List(Bytes(1, Varint(1ull << 31)), &ints));
}

TEST(Lists, AnyBytesAreReadWithinBounds) {
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::vector<char> bytes(random() % 10);
    for (char& c : bytes) c = random() % 3 == 0 ? 0x0a : random();
    const std::string_view view(bytes.data(), bytes.size());
    Longs longs;
    std::vector<float> floats;
    std::vector<std::pair<int64_t, float>> pairs;
    ReadInt64List(view, &longs);
    ReadFloatList(view, &floats);
    ReadKvList(view, &pairs);
  }
}

TEST(KvLists, HaveAsManyIdsAsValues) {
  std::vector<std::pair<int64_t, float>> pairs;
  ASSERT_TRUE(ReadKvList(Bytes(1, Varint(3) + Varint(1)) + Bytes(2, Float(0.5f) + Float(2)), &pairs));
  EXPECT_EQ(pairs, (std::vector<std::pair<int64_t, float>>{{3, 0.5f}, {1, 2}}));
  EXPECT_FALSE(ReadKvList(Bytes(1, Varint(3)), &pairs));
  EXPECT_FALSE(ReadKvList(Bytes(2, Float(1)), &pairs));
}

std::vector<std::string> Fields(std::string_view text, std::string_view delimiters, int64_t limit) {
  std::vector<std::string> fields;
  const int64_t count = FirstFields(text, delimiters, limit, [&](int64_t i, std::string_view field) {
    EXPECT_EQ(i, static_cast<int64_t>(fields.size()));
    fields.emplace_back(field);
  });
  EXPECT_EQ(count, static_cast<int64_t>(fields.size()));
  return fields;
}

TEST(FirstFields, SkipsEmptyOnesAndStopsAtTheLimit) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Fields("f1,f2,f3", ",", 4), (Strings{"f1", "f2", "f3"}));
  EXPECT_EQ(Fields(",,a,;b;,", ",;", 9), (Strings{"a", "b"}));
  EXPECT_EQ(Fields("a,b,c", ",", 2), (Strings{"a", "b"}));
  EXPECT_EQ(Fields("abc", "", 2), (Strings{"a", "b"}));
  EXPECT_EQ(Fields("", ",", 2), Strings{});
  EXPECT_EQ(Fields(",,", ",", 2), Strings{});
  EXPECT_EQ(Fields("a", ",", 0), Strings{});
}

}  // namespace
}  // namespace strings
}  // namespace deeprec
