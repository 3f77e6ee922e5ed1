#include <string>
#include <vector>

#include "tensorflow/core/fusion/test_graph.h"

namespace deeprec {
namespace fusion {
namespace {

class SelectFillTest : public FusionTest {
 protected:
  SelectFillTest() : condition_(Arg("c", DT_BOOL)), x_(Arg("x", DT_FLOAT)) {}

  // select(condition, x, other), read from outside.
  Node* SelectOf(Node* other, const char* op = "Select") {
    Node* const select = Op(op, "select", {{condition_, 0}, {x_, 0}, {other, 0}}, "T", DT_FLOAT);
    Output({select, 0});
    return select;
  }

  float FillOf(const Node* node) {
    Tensor fill;
    EXPECT_TRUE(tensorflow::GetNodeAttr(node->attrs(), "fill", &fill).ok());
    return fill.scalar<float>()();
  }

  template <class T>
  T Attr(const Node* node, const char* name) {
    T value{};
    EXPECT_TRUE(tensorflow::GetNodeAttr(node->attrs(), name, &value).ok());
    return value;
  }

  Node *condition_, *x_;
};

TEST_F(SelectFillTest, ZerosLikeOfTheOtherBranchIsNotMade) {
  SelectOf(Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT));
  const std::vector<Fused> fused = Run();
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].template_name, "select");
  EXPECT_EQ(fused[0].node, "select");
  EXPECT_EQ(fused[0].replaced, (std::vector<std::string>{"select", "zeros"}));
  const Node* const node = Find("select");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->type_string(), "FusedSelectFill");
  EXPECT_EQ(node->num_inputs(), 2);
  EXPECT_EQ(Find("zeros"), nullptr);
  EXPECT_EQ(FillOf(node), 0.f);
  EXPECT_FALSE(Attr<bool>(node, "fill_where"));
  EXPECT_EQ(InputName(Find("out"), 0), "select");
  EXPECT_EQ(Attr<std::vector<std::string>>(node, kReplacedAttr), fused[0].replaced);
}

TEST_F(SelectFillTest, TheFilledBranchMayBeTheFirst) {
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  Output({Op("Select", "select", {{condition_, 0}, {zeros, 0}, {x_, 0}}, "T", DT_FLOAT), 0});
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_TRUE(Attr<bool>(Find("select"), "fill_where"));
  EXPECT_EQ(InputName(Find("select"), 1), "x");
}

TEST_F(SelectFillTest, ZerosLikeAnotherTensorHasItsShapeChecked) {
  Node* const other = Arg("other", DT_FLOAT);
  SelectOf(Op("ZerosLike", "zeros", {{other, 0}}, "T", DT_FLOAT));
  ASSERT_EQ(Run().size(), 1u);
  ASSERT_EQ(Find("select")->num_inputs(), 3);
  EXPECT_EQ(InputName(Find("select"), 2), "other");
}

TEST_F(SelectFillTest, OnesTimesANumber) {
  Node* const ones = Op("OnesLike", "ones", {{x_, 0}}, "T", DT_FLOAT);
  SelectOf(Op("Mul", "paddings", {{ones, 0}, {Float("low", -4294967295.f), 0}}, "T", DT_FLOAT));
  const std::vector<Fused> fused = Run();
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(FillOf(Find("select")), -4294967295.f);
  EXPECT_EQ(fused[0].replaced.size(), 4u);
}

TEST_F(SelectFillTest, FillOfTheShapeOfATensor) {
  Node* const shape = Op("Shape", "shape", {{x_, 0}}, "T", DT_FLOAT);
  SelectOf(Op("Fill", "filled", {{shape, 0}, {Float("seven", 7), 0}}, "T", DT_FLOAT));
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_EQ(FillOf(Find("select")), 7.f);
  EXPECT_EQ(Find("shape"), nullptr);
}

TEST_F(SelectFillTest, FillOfAShapeThatIsComputedStays) {
  SelectOf(Op("Fill", "filled", {{Arg("dims", DT_INT32), 0}, {Float("seven", 7), 0}}, "T", DT_FLOAT));
  EXPECT_TRUE(Run().empty());
}

TEST_F(SelectFillTest, AConstantOfOneValueKeepsItsShape) {
  Tensor sixes(DT_FLOAT, TensorShape({2, 3}));
  sixes.flat<float>().setConstant(6);
  SelectOf(Const("sixes", sixes));
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_EQ(Attr<tensorflow::PartialTensorShape>(Find("select"), "fill_shape").DebugString(), "[2,3]");
}

TEST_F(SelectFillTest, AConstantOfSeveralValuesStays) {
  Tensor values(DT_FLOAT, TensorShape({2}));
  values.flat<float>()(0) = 0.f;
  values.flat<float>()(1) = -0.f;
  SelectOf(Const("values", values));
  EXPECT_TRUE(Run().empty());
  EXPECT_EQ(Find("select")->type_string(), "Select");
}

TEST_F(SelectFillTest, TwoComputedBranchesStay) {
  SelectOf(Arg("other", DT_FLOAT));
  EXPECT_TRUE(Run().empty());
}

TEST_F(SelectFillTest, StringsStay) {
  Node *a = Arg("a", tensorflow::DT_STRING), *zeros = Op("ZerosLike", "zeros", {{a, 0}}, "T", tensorflow::DT_STRING);
  Output({Op("Select", "select", {{condition_, 0}, {a, 0}, {zeros, 0}}, "T", tensorflow::DT_STRING), 0});
  EXPECT_TRUE(Run().empty());
}

TEST_F(SelectFillTest, AnInnerNodeThatIsReadElsewhereStays) {
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  SelectOf(zeros);
  Output({zeros, 0}, "fetched");
  const std::vector<Fused> fused = Run();
  ASSERT_EQ(fused.size(), 1u);
  EXPECT_EQ(fused[0].replaced, (std::vector<std::string>{"select"}));
  ASSERT_NE(Find("zeros"), nullptr);
  EXPECT_EQ(InputName(Find("fetched"), 0), "zeros");
}

TEST_F(SelectFillTest, AnInnerNodeThatIsWaitedForStays) {
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  SelectOf(zeros);
  graph_.AddControlEdge(zeros, Arg("later", DT_FLOAT));
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_NE(Find("zeros"), nullptr);
}

TEST_F(SelectFillTest, ControlEdgesMoveToTheNewNode) {
  Node *before = Arg("before", DT_FLOAT), *first = Arg("first", DT_FLOAT), *after = Arg("after", DT_FLOAT);
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  Node* const select = SelectOf(zeros);
  graph_.AddControlEdge(before, zeros);
  graph_.AddControlEdge(first, select);
  graph_.AddControlEdge(select, after);
  ASSERT_EQ(Run().size(), 1u);
  const Node* const node = Find("select");
  EXPECT_TRUE(WaitsFor(node, before));
  EXPECT_TRUE(WaitsFor(node, first));
  EXPECT_TRUE(WaitsFor(after, node));
}

TEST_F(SelectFillTest, DevicesAreKept) {
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  Node* const select = SelectOf(zeros);
  const std::string device = "/job:worker/replica:0/task:1/device:CPU:0";
  for (Node* node : {zeros, select}) node->set_assigned_device_name(device);
  select->set_requested_device("/job:worker/task:1");
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_EQ(Find("select")->assigned_device_name(), device);
  EXPECT_EQ(Find("select")->requested_device(), "/job:worker/task:1");
}

TEST_F(SelectFillTest, NodesOfTwoDevicesStay) {
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  Node* const select = SelectOf(zeros);
  zeros->set_assigned_device_name("/job:worker/replica:0/task:0/device:CPU:0");
  select->set_assigned_device_name("/job:worker/replica:0/task:1/device:CPU:0");
  EXPECT_TRUE(Run().empty());
}

TEST_F(SelectFillTest, NodesOnOtherDevicesThanCpusStay) {
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  Node* const select = SelectOf(zeros);
  for (Node* node : {zeros, select}) node->set_assigned_device_name("/job:a/replica:0/task:0/device:GPU:0");
  EXPECT_TRUE(Run().empty());
}

TEST_F(SelectFillTest, AVariableIsNotReadLaterThanBefore) {
  Node* const variable = Op("TestVariable", "variable", {});
  SelectOf(Op("ZerosLike", "zeros", {{variable, 0}}, "T", DT_FLOAT));
  EXPECT_TRUE(Run().empty());
}

TEST_F(SelectFillTest, ATiledConditionIsReadBeforeTheTile) {
  Node* const column = Op("Reshape", "column", {{condition_, 0}, {Ints("sizes", {-1, 1}), 0}}, "T", DT_BOOL);
  Node* const tile = Op("Tile", "tile", {{column, 0}, {Arg("multiples", DT_INT32), 0}}, "T", DT_BOOL);
  Node* const zeros = Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT);
  Output({Op("Select", "select", {{tile, 0}, {zeros, 0}, {x_, 0}}, "T", DT_FLOAT), 0});
  ASSERT_EQ(Run().size(), 1u);
  const Node* const node = Find("select");
  EXPECT_EQ(InputName(node, 0), "column");
  EXPECT_EQ(InputName(node, 2), "multiples");
  EXPECT_EQ(Find("tile"), nullptr);
}

TEST_F(SelectFillTest, ATemplateThatIsOffIsNotUsed) {
  SelectOf(Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT));
  EXPECT_TRUE(Run("select").empty());
  EXPECT_EQ(Find("select")->type_string(), "Select");
}

TEST_F(SelectFillTest, TheSummaryCounts) {
  SelectOf(Op("ZerosLike", "zeros", {{x_, 0}}, "T", DT_FLOAT), "SelectV2");
  EXPECT_EQ(Summary(Run()), "1 select");
  EXPECT_EQ(Summary({}), "");
}

}  // namespace
}  // namespace fusion
}  // namespace deeprec
