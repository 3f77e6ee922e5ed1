#include <vector>

#include "tensorflow/core/fusion/test_graph.h"

namespace deeprec {
namespace fusion {
namespace {

class OneHotSumTest : public FusionTest {
 protected:
  void Build(int axis_of_sum, float off = 0, bool keep_dims = false, int axis = -1) {
    Node* const one_hot =
        Op("OneHot", "one_hot",
           {{Arg("ids", DT_INT64), 0}, {Int("depth", 9), 0}, {Float("on", 1), 0}, {Float("off", off), 0}},
           [&](tensorflow::NodeDef* def) {
             tensorflow::AddNodeAttr("T", DT_FLOAT, def);
             tensorflow::AddNodeAttr("axis", axis, def);
           });
    Output({Op("Sum", "sum", {{one_hot, 0}, {Ints("axes", {axis_of_sum}), 0}},
               [&](tensorflow::NodeDef* def) {
                 tensorflow::AddNodeAttr("T", DT_FLOAT, def);
                 tensorflow::AddNodeAttr("keep_dims", keep_dims, def);
               }),
            0});
  }
};

TEST_F(OneHotSumTest, TheOneHotTensorIsNotMade) {
  Build(-2);
  const std::vector<Fused> fused = Run();
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].template_name, "one_hot_sum");
  const Node* const node = Find("sum");
  EXPECT_EQ(node->type_string(), "FusedOneHotSum");
  EXPECT_EQ(InputName(node, 0), "ids");
  EXPECT_EQ(InputName(node, 1), "depth");
  EXPECT_EQ(InputName(node, 2), "on");
  EXPECT_EQ(Find("one_hot"), nullptr);
}

TEST_F(OneHotSumTest, ASumOverTheDepthStays) {
  Build(-1);
  EXPECT_TRUE(Run().empty());
}

TEST_F(OneHotSumTest, AValueForTheOthersStays) {
  Build(-2, 0.5f);
  EXPECT_TRUE(Run().empty());
}

TEST_F(OneHotSumTest, ASumThatKeepsItsDimensionStays) {
  Build(-2, 0, true);
  EXPECT_TRUE(Run().empty());
}

TEST_F(OneHotSumTest, AnotherPlaceOfTheDepthStays) {
  Build(-2, 0, false, 0);
  EXPECT_TRUE(Run().empty());
}

}  // namespace
}  // namespace fusion
}  // namespace deeprec
