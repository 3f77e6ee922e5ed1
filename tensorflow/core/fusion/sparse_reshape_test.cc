#include <string>
#include <vector>

#include "tensorflow/core/fusion/test_graph.h"

namespace deeprec {
namespace fusion {
namespace {

class SparseReshapeTest : public FusionTest {
 protected:
  SparseReshapeTest() : indices_(Arg("indices", DT_INT64)), shape_(Arg("shape", DT_INT64)) {}

  Node* Reshaped(const std::string& name, Node* indices, OutputTensor shape, Node* to) {
    return Op("SparseReshape", name, {{indices, 0}, shape, {to, 0}});
  }
  void Outputs(Node* node) {
    Output({node, 0}, "out_indices");
    Output({node, 1}, "out_shape");
  }

  // [reduce_prod(shape[:k]), shape[index]]
  Node* Flat(int k, int index, bool keep_dims = false) {
    Node* const head =
        Op("Slice", "head", {{shape_, 0}, {Ints("begin", {0}), 0}, {Ints("size", {k}), 0}}, "T", DT_INT64);
    Node* const prod = Op("Prod", "prod", {{head, 0}, {Ints("axes", {0}), 0}}, [&](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("T", DT_INT64, def);
      tensorflow::AddNodeAttr("keep_dims", keep_dims, def);
    });
    Node* const last =
        Op("GatherV2", "last", {{shape_, 0}, {Int("index", index), 0}, {Int("axis", 0), 0}}, "T", DT_INT64);
    return Op("Pack", "flat", {{prod, 0}, {last, 0}}, [](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("T", DT_INT64, def);
      tensorflow::AddNodeAttr("N", 2, def);
    });
  }

  Node *indices_, *shape_;
};

TEST_F(SparseReshapeTest, AChainOfThreeIsOne) {
  Node* const a = Reshaped("a", indices_, {shape_, 0}, Arg("to_a", DT_INT64));
  Node* const b = Reshaped("b", a, {a, 1}, Arg("to_b", DT_INT64));
  Outputs(Reshaped("c", b, {b, 1}, Arg("to_c", DT_INT64)));
  Run();
  EXPECT_EQ(Find("a"), nullptr);
  EXPECT_EQ(Find("b"), nullptr);
  const Node* const node = Find("c");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->type_string(), "FusedSparseReshape");
  ASSERT_EQ(node->num_inputs(), 5);
  EXPECT_EQ(InputName(node, 0), "indices");
  EXPECT_EQ(InputName(node, 2), "to_a");
  EXPECT_EQ(InputName(node, 4), "to_c");
  EXPECT_EQ(InputName(Find("out_shape"), 0), "c:1");
}

TEST_F(SparseReshapeTest, AChainWhoseMiddleIsReadStays) {
  Node* const a = Reshaped("a", indices_, {shape_, 0}, Arg("to_a", DT_INT64));
  Outputs(Reshaped("b", a, {a, 1}, Arg("to_b", DT_INT64)));
  Output({a, 1}, "shape_of_a");
  EXPECT_TRUE(Run().empty());
}

TEST_F(SparseReshapeTest, AReshapeToAnotherShapeThanThatOfTheFirstStays) {
  Node* const a = Reshaped("a", indices_, {shape_, 0}, Arg("to_a", DT_INT64));
  Outputs(Reshaped("b", a, {shape_, 0}, Arg("to_b", DT_INT64)));
  EXPECT_TRUE(Run().empty());
}

TEST_F(SparseReshapeTest, ToRowsAndTheLastSize) {
  Outputs(Reshaped("flatten", indices_, {shape_, 0}, Flat(2, 2)));
  const std::vector<Fused> fused = Run();
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].template_name, "sparse_flatten");
  const Node* const node = Find("flatten");
  EXPECT_EQ(node->type_string(), "FusedSparseOuterFlatten");
  EXPECT_EQ(node->num_inputs(), 2);
  for (const char* gone : {"head", "prod", "last", "flat", "index"}) EXPECT_EQ(Find(gone), nullptr) << gone;
}

TEST_F(SparseReshapeTest, ToRowsAndAnotherSizeStays) {
  Outputs(Reshaped("flatten", indices_, {shape_, 0}, Flat(2, 1)));
  EXPECT_TRUE(Run().empty());
}

TEST_F(SparseReshapeTest, ToAProductWithADimensionStays) {
  Outputs(Reshaped("flatten", indices_, {shape_, 0}, Flat(2, 2, true)));
  EXPECT_TRUE(Run().empty());
}

TEST_F(SparseReshapeTest, ToRowsOfAnotherTensorStays) {
  Outputs(Reshaped("flatten", indices_, {Arg("other", DT_INT64), 0}, Flat(2, 2)));
  EXPECT_TRUE(Run().empty());
}

}  // namespace
}  // namespace fusion
}  // namespace deeprec
