#include <vector>

#include "tensorflow/core/fusion/test_graph.h"

namespace deeprec {
namespace fusion {
namespace {

class L2NormalizeTest : public FusionTest {
 protected:
  void Build(std::vector<int32_t> axes = {1}, bool keep_dims = true, float epsilon = 1e-12f) {
    Node* const x = Arg("x", DT_FLOAT);
    Node* const square = Op("Square", "square", {{x, 0}}, "T", DT_FLOAT);
    Node* const sum = Op("Sum", "sum", {{square, 0}, {Ints("axes", axes), 0}}, [&](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("T", DT_FLOAT, def);
      tensorflow::AddNodeAttr("keep_dims", keep_dims, def);
    });
    Node* const maximum = Op("Maximum", "maximum", {{sum, 0}, {Float("epsilon", epsilon), 0}}, "T", DT_FLOAT);
    rsqrt_ = Op("Rsqrt", "rsqrt", {{maximum, 0}}, "T", DT_FLOAT);
    Output({Op("Mul", "normal", {{rsqrt_, 0}, {x, 0}}, "T", DT_FLOAT), 0});
  }

  Node* rsqrt_;
};

TEST_F(L2NormalizeTest, OneOp) {
  Build();
  const std::vector<Fused> fused = Run();
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].replaced.size(), 7u);
  EXPECT_EQ(Find("normal")->type_string(), "FusedL2Normalize");
  EXPECT_EQ(InputName(Find("normal"), 0), "x");
}

TEST_F(L2NormalizeTest, WhatAGradientReadsStays) {
  Build();
  Output({rsqrt_, 0}, "gradient");
  EXPECT_TRUE(Run().empty());
}

TEST_F(L2NormalizeTest, SeveralAxesStay) {
  Build({0, 1});
  EXPECT_TRUE(Run().empty());
}

TEST_F(L2NormalizeTest, ASumWithoutItsDimensionStays) {
  Build({1}, false);
  EXPECT_TRUE(Run().empty());
}

TEST_F(L2NormalizeTest, ABoundThatIsNotPositiveStays) {
  Build({1}, true, 0);
  EXPECT_TRUE(Run().empty());
}

}  // namespace
}  // namespace fusion
}  // namespace deeprec
