#include "tensorflow/core/columnar/column_type.h"

#include <string>

#include "gtest/gtest.h"
#include "tensorflow/core/columnar/test_arrays.h"

namespace deeprec {
namespace columnar {
namespace {

TEST(ColumnTypeTest, ElementsHaveTheirNumpyNames) {
  const char* const expected[][2] = {{"b", "bool"},   {"c", "int8"},   {"C", "uint8"},   {"s", "int16"},
                                     {"S", "uint16"}, {"i", "int32"},  {"I", "uint32"},  {"l", "int64"},
                                     {"L", "uint64"}, {"e", "float16"}, {"f", "float32"}, {"g", "float64"},
                                     {"u", "string"}, {"z", "string"}, {"U", "string"},  {"Z", "string"},
                                     {"w:7", "string"}};
  for (const auto& [format, name] : expected) {
    ColumnType type;
    EXPECT_EQ(ParseColumnType(TestSchema(format).schema, &type), "") << format;
    EXPECT_STREQ(Name(type.element), name) << format;
    EXPECT_TRUE(type.levels.empty());
    EXPECT_FALSE(type.has_dictionary);
  }
}

TEST(ColumnTypeTest, ListsAreLevelsOutermostFirst) {
  TestSchema value("f"), fixed("+w:3"), small("+l"), large("+L");
  fixed.Child(&value);
  small.Child(&fixed);
  large.Child(&small);
  ColumnType type;
  ASSERT_EQ(ParseColumnType(large.schema, &type), "");
  ASSERT_EQ(type.levels.size(), 3u);
  EXPECT_EQ(type.levels[0].kind, Level::kOffsets64);
  EXPECT_EQ(type.levels[1].kind, Level::kOffsets32);
  EXPECT_EQ(type.levels[2].kind, Level::kFixed);
  EXPECT_EQ(type.levels[2].fixed_size, 3);
  EXPECT_EQ(type.element, Element::kFloat);
}

TEST(ColumnTypeTest, ADictionaryGivesTheTypeOfItsValues) {
  TestSchema value("u"), index("s");
  index.schema.dictionary = &value.schema;
  ColumnType type;
  ASSERT_EQ(ParseColumnType(index.schema, &type), "");
  EXPECT_TRUE(type.has_dictionary);
  EXPECT_EQ(type.index, Element::kInt16);
  EXPECT_EQ(type.element, Element::kBytes);
  EXPECT_EQ(type.storage, ColumnType::kOffsets32);
}

TEST(ColumnTypeTest, OtherTypesAreNamedInTheError) {
  for (const char* format : {"n", "tdD", "tsu:UTC", "d:10,2", "+s", "+m", "+vl", "vu", "w", "", "ff"}) {
    ColumnType type;
    const std::string error = ParseColumnType(TestSchema(format).schema, &type);
    EXPECT_NE(error.find("\"" + std::string(format) + "\""), std::string::npos) << format << ": " << error;
  }
}

TEST(ColumnTypeTest, ADictionaryOfListsIsRefused) {
  TestSchema value("l"), list("+l"), index("i");
  list.Child(&value);
  index.schema.dictionary = &list.schema;
  ColumnType type;
  EXPECT_NE(ParseColumnType(index.schema, &type).find("+l"), std::string::npos);
}

}  // namespace
}  // namespace columnar
}  // namespace deeprec
