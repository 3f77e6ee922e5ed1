#include <string>
#include <vector>

#include "tensorflow/core/fusion/test_graph.h"

namespace deeprec {
namespace fusion {
namespace {

using tensorflow::DT_BFLOAT16;

class ConcatCastTest : public FusionTest {
 protected:
  Node* Cast(const std::string& name, Node* x, DataType from, DataType to, bool truncate = false) {
    return Op("Cast", name, {{x, 0}}, [&](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("SrcT", from, def);
      tensorflow::AddNodeAttr("DstT", to, def);
      tensorflow::AddNodeAttr("Truncate", truncate, def);
    });
  }
  Node* Concat(Node* a, Node* b, DataType type) {
    return Op("ConcatV2", "concat", {{a, 0}, {b, 0}, {Int("axis", 1), 0}}, [&](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("N", 2, def);
      tensorflow::AddNodeAttr("T", type, def);
    });
  }
};

TEST_F(ConcatCastTest, ACastOfAConcat) {
  Node* const concat = Concat(Arg("a", DT_FLOAT), Arg("b", DT_FLOAT), DT_FLOAT);
  Output({Cast("cast", concat, DT_FLOAT, DT_BFLOAT16), 0});
  ASSERT_EQ(Run().size(), 1u);
  const Node* const node = Find("cast");
  EXPECT_EQ(node->type_string(), "FusedConcatCast");
  EXPECT_EQ(InputName(node, 1), "b");
  EXPECT_EQ(InputName(node, 2), "axis");
  EXPECT_EQ(Find("concat"), nullptr);
}

TEST_F(ConcatCastTest, AConcatOfCasts) {
  Node *a = Cast("cast_a", Arg("a", DT_BFLOAT16), DT_BFLOAT16, DT_FLOAT),
       *b = Cast("cast_b", Arg("b", DT_BFLOAT16), DT_BFLOAT16, DT_FLOAT);
  Output({Concat(a, b, DT_FLOAT), 0});
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_EQ(Find("concat")->type_string(), "FusedConcatCast");
  EXPECT_EQ(InputName(Find("concat"), 0), "a");
  EXPECT_EQ(Find("cast_b"), nullptr);
}

TEST_F(ConcatCastTest, CastsOfTwoTypesStay) {
  Node *a = Cast("cast_a", Arg("a", DT_BFLOAT16), DT_BFLOAT16, DT_FLOAT),
       *b = Cast("cast_b", Arg("b", DT_INT32), DT_INT32, DT_FLOAT);
  Output({Concat(a, b, DT_FLOAT), 0});
  EXPECT_TRUE(Run().empty());
}

TEST_F(ConcatCastTest, AConcatThatIsReadElsewhereStays) {
  Node* const concat = Concat(Arg("a", DT_FLOAT), Arg("b", DT_FLOAT), DT_FLOAT);
  Output({Cast("cast", concat, DT_FLOAT, DT_BFLOAT16), 0});
  Output({concat, 0}, "fetched");
  EXPECT_TRUE(Run().empty());
}

TEST_F(ConcatCastTest, ACastThatTruncatesStays) {
  Node* const concat = Concat(Arg("a", DT_FLOAT), Arg("b", DT_FLOAT), DT_FLOAT);
  Output({Cast("cast", concat, DT_FLOAT, DT_BFLOAT16, true), 0});
  EXPECT_TRUE(Run().empty());
}

TEST_F(ConcatCastTest, OtherTypesStay) {
  Node* const concat = Concat(Arg("a", DT_FLOAT), Arg("b", DT_FLOAT), DT_FLOAT);
  Output({Cast("cast", concat, DT_FLOAT, DT_INT32), 0});
  EXPECT_TRUE(Run().empty());
}

}  // namespace
}  // namespace fusion
}  // namespace deeprec
