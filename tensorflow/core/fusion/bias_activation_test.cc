#include <string>

#include "tensorflow/core/fusion/test_graph.h"

namespace deeprec {
namespace fusion {
namespace {

class BiasActivationTest : public FusionTest {
 protected:
  Node* BiasAdd(DataType type = DT_FLOAT, const std::string& format = "NHWC") {
    return Op("BiasAdd", "bias_add", {{Arg("x", type), 0}, {Arg("bias", type), 0}}, [&](tensorflow::NodeDef* def) {
      tensorflow::AddNodeAttr("T", type, def);
      tensorflow::AddNodeAttr("data_format", format, def);
    });
  }
};

TEST_F(BiasActivationTest, ASigmoidAndATanh) {
  Output({Op("Sigmoid", "y", {{BiasAdd(), 0}}, "T"), 0});
  ASSERT_EQ(Run().size(), 1u);
  EXPECT_EQ(Find("y")->type_string(), "FusedBiasActivation");
  EXPECT_EQ(InputName(Find("y"), 0), "x");
  EXPECT_EQ(InputName(Find("y"), 1), "bias");
  EXPECT_EQ(Find("bias_add"), nullptr);
}

TEST_F(BiasActivationTest, ABiasAddThatIsReadElsewhereStays) {
  Node* const bias_add = BiasAdd();
  Output({Op("Tanh", "y", {{bias_add, 0}}, "T"), 0});
  Output({bias_add, 0}, "fetched");
  EXPECT_TRUE(Run().empty());
}

TEST_F(BiasActivationTest, OtherFormatsAndTypesStay) {
  Output({Op("Tanh", "y", {{BiasAdd(DT_FLOAT, "NCHW"), 0}}, "T"), 0});
  EXPECT_TRUE(Run().empty());
}

TEST_F(BiasActivationTest, NarrowNumbersStay) {
  Output({Op("Tanh", "y", {{BiasAdd(tensorflow::DT_BFLOAT16), 0}}, "T", tensorflow::DT_BFLOAT16), 0});
  EXPECT_TRUE(Run().empty());
}

}  // namespace
}  // namespace fusion
}  // namespace deeprec
