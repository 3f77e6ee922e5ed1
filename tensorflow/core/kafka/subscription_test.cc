#include "tensorflow/core/kafka/subscription.h"

#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace deeprec {
namespace kafka {
namespace {

using Parts = std::tuple<std::string, int32_t, int64_t, int64_t>;

Parts Parse(const std::string& text) {
  Subscription found;
  EXPECT_EQ(ParseSubscription(text, &found), "") << text;
  return {found.topic, found.partition, found.offset, found.length};
}

TEST(SubscriptionTest, WhatIsNotSaidIsAllOfPartitionZero) {
  EXPECT_EQ(Parse("a"), Parts("a", 0, 0, -1));
  EXPECT_EQ(Parse("a.b-c_d:3"), Parts("a.b-c_d", 3, 0, -1));
  EXPECT_EQ(Parse("a:3:17"), Parts("a", 3, 17, -1));
  EXPECT_EQ(Parse("a:3:17:5"), Parts("a", 3, 17, 5));
}

TEST(SubscriptionTest, OffsetsMayBeTheBeginningAndTheEnd) {
  EXPECT_EQ(Parse("a:0:-2:-1"), Parts("a", 0, kBeginning, -1));
  EXPECT_EQ(Parse("a:0:-1:0"), Parts("a", 0, kEnd, 0));
}

TEST(SubscriptionTest, OtherTextsAreRefusedByPart) {
  for (const auto& [text, part] : {std::pair<std::string, std::string>{"", "no topic"},
                                   {":0", "no topic"},
                                   {"a:", "partition"},
                                   {"a:-1", "partition"},
                                   {"a:x", "partition"},
                                   {"a:4294967296", "partition"},
                                   {"a:0:", "offset"},
                                   {"a:0:-3", "offset"},
                                   {"a:0:1.5", "offset"},
                                   {"a:0:99999999999999999999", "offset"},
                                   {"a:0:0:-2", "length"},
                                   {"a:0:0: 1", "length"},
                                   {"a:0:0:1:1", "5 parts"}}) {
    Subscription found;
    const std::string error = ParseSubscription(text, &found);
    EXPECT_NE(error.find(part), std::string::npos) << text << ": " << error;
    EXPECT_NE(error.find("\"" + text + "\""), std::string::npos) << error;
  }
}

TEST(PropertyTest, TheFirstEqualsSignEndsTheKey) {
  std::string key, value;
  EXPECT_EQ(ParseProperty("sasl.password=a=b", &key, &value), "");
  EXPECT_EQ(key, "sasl.password");
  EXPECT_EQ(value, "a=b");
  EXPECT_EQ(ParseProperty("x=", &key, &value), "");
  EXPECT_EQ(value, "");
}

TEST(PropertyTest, WithoutAKeyItIsRefused) {
  std::string key, value;
  EXPECT_NE(ParseProperty("=1", &key, &value), "");
  EXPECT_NE(ParseProperty("group", &key, &value), "");
}

}  // namespace
}  // namespace kafka
}  // namespace deeprec
