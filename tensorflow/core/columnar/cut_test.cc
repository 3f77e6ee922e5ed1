#include "tensorflow/core/columnar/cut.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/columnar/test_arrays.h"

namespace deeprec {
namespace columnar {
namespace {

using Shape = std::vector<int64_t>;
using Splits = std::vector<std::vector<int32_t>>;

ColumnType Plain(Element element, std::vector<Level> levels = {}) {
  ColumnType type{};
  type.levels = std::move(levels);
  type.element = element;
  type.storage = element == Element::kBool ? ColumnType::kBits : ColumnType::kPlain;
  return type;
}

ColumnType Text() {
  ColumnType type{};
  type.element = Element::kBytes;
  type.storage = ColumnType::kOffsets32;
  return type;
}

template <class T>
std::vector<T> Elements(const ColumnType& type, const Cut& cut) {
  std::vector<T> values(cut.num_elements);
  CopyElements(type, cut, values.data());
  return values;
}

std::vector<std::string> Texts(const ColumnType& type, const Cut& cut) {
  std::vector<std::string> texts;
  ForEachBytes(type, cut, [&texts](std::string_view text) { texts.emplace_back(text); });
  return texts;
}

TEST(CutTest, RowsOfPlainElementsCountTheOffset) {
  TestArray array(4);
  array.NoBuffer().Buffer<int64_t>({9, 1, 2, 3, 4});
  array.array.offset = 1;
  const ColumnType type = Plain(Element::kInt64);
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&array.array, 1, 3}}, 0, {}, &cut), "");
  EXPECT_EQ(Elements<int64_t>(type, cut), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(static_cast<const int64_t*>(Contiguous(type, cut))[0], 2);
}

TEST(CutTest, PiecesOfArraysFollowEachOther) {
  TestArray first(3), second(2);
  first.NoBuffer().Buffer<float>({1, 2, 3});
  second.NoBuffer().Buffer<float>({4, 5});
  const ColumnType type = Plain(Element::kFloat);
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&first.array, 2, 3}, {&second.array, 0, 2}}, 0, {}, &cut), "");
  EXPECT_EQ(Elements<float>(type, cut), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(Contiguous(type, cut), nullptr);
}

TEST(CutTest, BitsAreUnpackedFromAnyPlace) {
  std::vector<bool> bits;
  for (int i = 0; i < 21; ++i) bits.push_back(i % 3 == 0);
  TestArray array(18);
  array.NoBuffer().Bits(bits);
  array.array.offset = 3;
  const ColumnType type = Plain(Element::kBool);
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&array.array, 6, 18}}, 0, {}, &cut), "");
  EXPECT_EQ(Elements<uint8_t>(type, cut), (std::vector<uint8_t>{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}));
}

TEST(CutTest, TextsOfADictionaryAreFoundByIndex) {
  TestArray words(2), array(3);
  words.NoBuffer().Buffer<int32_t>({0, 1, 1, 4}).Buffer<char>({'x', 'a', 'b', 'c'});
  words.array.offset = 1;
  array.NoBuffer().Buffer<int8_t>({1, 0, 1});
  array.array.dictionary = &words.array;
  ColumnType type = Text();
  type.has_dictionary = true;
  type.index = Element::kInt8;
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&array.array, 0, 3}}, 0, {}, &cut), "");
  EXPECT_EQ(Texts(type, cut), (std::vector<std::string>{"abc", "", "abc"}));
}

TEST(CutTest, AnIndexOutsideOfTheDictionaryIsAnError) {
  TestArray values(1), array(1);
  values.NoBuffer().Buffer<int32_t>({7});
  array.NoBuffer().Buffer<int32_t>({1});
  array.array.dictionary = &values.array;
  ColumnType type = Plain(Element::kInt32);
  type.has_dictionary = true;
  type.index = Element::kInt32;
  Cut cut;
  EXPECT_NE(CutRows(type, {{&array.array, 0, 1}}, 0, {}, &cut).find("outside"), std::string::npos);
}

TEST(CutTest, EmptyTextsNeedNoData) {
  TestArray array(2);
  array.NoBuffer().Buffer<int32_t>({0, 0, 0}).NoBuffer();
  Cut cut;
  ASSERT_EQ(CutRows(Text(), {{&array.array, 0, 2}}, 0, {}, &cut), "");
  EXPECT_EQ(Texts(Text(), cut), (std::vector<std::string>{"", ""}));
}

TEST(CutTest, TextsOfOneWidth) {
  TestArray array(3);
  array.NoBuffer().Buffer<char>({'a', 'b', 'c', 'd', 'e', 'f'});
  ColumnType type = Text();
  type.storage = ColumnType::kFixedBytes;
  type.fixed_bytes = 2;
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&array.array, 1, 3}}, 0, {}, &cut), "");
  EXPECT_EQ(Texts(type, cut), (std::vector<std::string>{"cd", "ef"}));
}

TEST(CutTest, SplitsStartAtZeroAndRunThroughPieces) {
  TestArray values(6), lists(3);
  values.NoBuffer().Buffer<int32_t>({0, 1, 2, 3, 4, 5});
  lists.NoBuffer().Buffer<int32_t>({0, 2, 2, 6}).Child(&values);
  const ColumnType type = Plain(Element::kInt32, {{Level::kOffsets32, 0}});
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&lists.array, 1, 3}, {&lists.array, 0, 1}}, 1, {}, &cut), "");
  EXPECT_EQ(cut.splits, (Splits{{0, 0, 4, 6}}));
  EXPECT_EQ(Elements<int32_t>(type, cut), (std::vector<int32_t>{2, 3, 4, 5, 0, 1}));
}

TEST(CutTest, AnEmptyListArrayNeedsNoOffsets) {
  TestArray values(0), lists(0);
  values.NoBuffer().NoBuffer();
  lists.NoBuffer().NoBuffer().Child(&values);
  Cut cut;
  ASSERT_EQ(CutRows(Plain(Element::kInt8, {{Level::kOffsets64, 0}}), {{&lists.array, 0, 0}}, 1, {}, &cut), "");
  EXPECT_EQ(cut.splits, (Splits{{0}}));
  EXPECT_EQ(cut.num_elements, 0);
}

TEST(CutTest, NullsAreAnErrorWhereTheRowsAre) {
  TestArray array(4);
  array.Bits({true, false, true, true}).Buffer<int32_t>({1, 0, 3, 4});
  array.array.null_count = 1;
  const ColumnType type = Plain(Element::kInt32);
  Cut cut;
  EXPECT_NE(CutRows(type, {{&array.array, 0, 2}}, 0, {}, &cut).find("row 1 "), std::string::npos);
  EXPECT_EQ(CutRows(type, {{&array.array, 2, 4}}, 0, {}, &cut), "");
}

TEST(CutTest, NullsInListsAreAnError) {
  TestArray values(3), lists(2);
  values.Bits({true, true, false}).Buffer<int32_t>({1, 2, 0});
  values.array.null_count = -1;
  lists.NoBuffer().Buffer<int32_t>({0, 2, 3}).Child(&values);
  const ColumnType type = Plain(Element::kInt32, {{Level::kOffsets32, 0}});
  Cut cut;
  EXPECT_EQ(CutRows(type, {{&lists.array, 0, 1}}, 1, {}, &cut), "");
  EXPECT_NE(CutRows(type, {{&lists.array, 0, 2}}, 1, {}, &cut).find("null"), std::string::npos);
}

TEST(CutTest, NullsInADictionaryAreAnError) {
  TestArray values(2), array(2);
  values.Bits({true, false}).Buffer<int32_t>({7, 0});
  values.array.null_count = 1;
  array.NoBuffer().Buffer<int32_t>({0, 1});
  array.array.dictionary = &values.array;
  ColumnType type = Plain(Element::kInt32);
  type.has_dictionary = true;
  type.index = Element::kInt32;
  Cut cut;
  EXPECT_EQ(CutRows(type, {{&array.array, 0, 1}}, 0, {}, &cut), "");
  EXPECT_NE(CutRows(type, {{&array.array, 0, 2}}, 0, {}, &cut).find("null"), std::string::npos);
}

TEST(CutTest, FixedListsBelowTheSplitsAreShapes) {
  TestArray values(8), fixed(4), lists(2);
  values.NoBuffer().Buffer<int8_t>({0, 1, 2, 3, 4, 5, 6, 7});
  fixed.NoBuffer().Child(&values);
  lists.NoBuffer().Buffer<int32_t>({0, 3, 4}).Child(&fixed);
  const ColumnType type = Plain(Element::kInt8, {{Level::kOffsets32, 0}, {Level::kFixed, 2}});
  Cut cut;
  ASSERT_EQ(CutRows(type, {{&lists.array, 1, 2}}, 1, {2}, &cut), "");
  EXPECT_EQ(cut.splits, (Splits{{0, 1}}));
  EXPECT_EQ(Elements<int8_t>(type, cut), (std::vector<int8_t>{6, 7}));
  ASSERT_EQ(CutRows(type, {{&lists.array, 0, 2}}, 2, {}, &cut), "");
  EXPECT_EQ(cut.splits, (Splits{{0, 3, 4}, {0, 2, 4, 6, 8}}));
}

TEST(CutTest, ListsOfOneLengthHaveAShape) {
  TestArray values(4), lists(2);
  values.NoBuffer().Buffer<int8_t>({0, 1, 2, 3});
  lists.NoBuffer().Buffer<int32_t>({0, 2, 4}).Child(&values);
  const ColumnType type = Plain(Element::kInt8, {{Level::kOffsets32, 0}});
  Cut cut;
  EXPECT_EQ(CutRows(type, {{&lists.array, 0, 2}}, 0, {2}, &cut), "");
  EXPECT_EQ(CutRows(type, {{&lists.array, 0, 2}}, 0, {2, 1}, &cut), "");
  EXPECT_NE(CutRows(type, {{&lists.array, 0, 2}}, 0, {4}, &cut).find("asks for 4"), std::string::npos);
  EXPECT_NE(CutRows(type, {{&lists.array, 0, 2}}, 0, {}, &cut).find("no shape"), std::string::npos);
}

TEST(CutTest, ListsOfDifferentLengthsHaveNoShape) {
  TestArray values(3), lists(2);
  values.NoBuffer().Buffer<int8_t>({0, 1, 2});
  lists.NoBuffer().Buffer<int32_t>({0, 1, 3}).Child(&values);
  Cut cut;
  EXPECT_NE(CutRows(Plain(Element::kInt8, {{Level::kOffsets32, 0}}), {{&lists.array, 0, 2}}, 0, {1}, &cut)
                .find("different lengths"),
            std::string::npos);
}

TEST(CutTest, AShapeWithoutLevelsGroupsTheElements) {
  TestArray array(4);
  array.NoBuffer().Buffer<int32_t>({1, 2, 3, 4});
  Cut cut;
  EXPECT_EQ(CutRows(Plain(Element::kInt32), {{&array.array, 0, 4}}, 0, {2}, &cut), "");
  EXPECT_NE(CutRows(Plain(Element::kInt32), {{&array.array, 0, 3}}, 0, {2}, &cut), "");
}

TEST(CutTest, MoreSplitsThanLevelsIsAnError) {
  TestArray array(1);
  array.NoBuffer().Buffer<int32_t>({1});
  Cut cut;
  EXPECT_NE(CutRows(Plain(Element::kInt32), {{&array.array, 0, 1}}, 1, {}, &cut).find("0 list levels"),
            std::string::npos);
}

// Random nested lists against a walk over each list by itself.
TEST(CutTest, RandomNestedListsEqualTheirLists) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int depth = 1 + random() % 3;
    const int64_t num_rows = 1 + random() % 12;
    std::vector<std::unique_ptr<TestArray>> arrays;
    std::vector<Level> levels;
    std::vector<std::vector<int64_t>> starts;
    int64_t length = num_rows;
    for (int l = 0; l < depth; ++l) {
      const bool wide = random() % 2;
      std::vector<int64_t> offsets = {static_cast<int64_t>(random() % 3)};
      for (int64_t i = 0; i < length; ++i) offsets.push_back(offsets.back() + random() % 4);
      arrays.push_back(std::make_unique<TestArray>(length));
      arrays.back()->NoBuffer();
      if (wide) {
        arrays.back()->Buffer(offsets);
      } else {
        arrays.back()->Buffer(std::vector<int32_t>(offsets.begin(), offsets.end()));
      }
      levels.push_back({wide ? Level::kOffsets64 : Level::kOffsets32, 0});
      length = offsets.back();
      starts.push_back(std::move(offsets));
    }
    std::vector<int32_t> values(length);
    for (int32_t& value : values) value = random();
    arrays.push_back(std::make_unique<TestArray>(length));
    arrays.back()->NoBuffer().Buffer(values);
    for (int l = 0; l < depth; ++l) arrays[l]->Child(arrays[l + 1].get());

    const int64_t begin = random() % (num_rows + 1);
    const int64_t end = begin + random() % (num_rows - begin + 1);
    const ColumnType type = Plain(Element::kInt32, levels);
    Cut cut;
    ASSERT_EQ(CutRows(type, {{&arrays[0]->array, begin, end}}, depth, {}, &cut), "");

    Splits splits;
    std::vector<int64_t> lists;
    for (int64_t i = begin; i < end; ++i) lists.push_back(i);
    for (int l = 0; l < depth; ++l) {
      splits.push_back({0});
      std::vector<int64_t> inner;
      for (int64_t list : lists) {
        for (int64_t i = starts[l][list]; i < starts[l][list + 1]; ++i) inner.push_back(i);
        splits.back().push_back(static_cast<int32_t>(inner.size()));
      }
      lists = std::move(inner);
    }
    std::vector<int32_t> expected;
    for (int64_t at : lists) expected.push_back(values[at]);
    EXPECT_EQ(cut.splits, splits);
    EXPECT_EQ(Elements<int32_t>(type, cut), expected);
  }
}

}  // namespace
}  // namespace columnar
}  // namespace deeprec
