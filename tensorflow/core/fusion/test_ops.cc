#include "tensorflow/core/framework/op.h"

namespace tensorflow {
namespace {

REGISTER_OP("NoOp");  // the source and the sink of every graph
REGISTER_OP("TestInput").Output("y: T").Attr("T: type").SetIsStateful();
REGISTER_OP("TestOutput").Input("x: T").Attr("T: type").SetIsStateful();
REGISTER_OP("TestVariable").Output("ref: Ref(float)").SetIsStateful();
REGISTER_OP("Const").Output("output: dtype").Attr("value: tensor").Attr("dtype: type");
REGISTER_OP("ZerosLike").Input("x: T").Output("y: T").Attr("T: type");
REGISTER_OP("OnesLike").Input("x: T").Output("y: T").Attr("T: type");
REGISTER_OP("Shape").Input("input: T").Output("output: out_type").Attr("T: type").Attr("out_type: type = DT_INT32");
REGISTER_OP("Fill").Input("dims: index_type").Input("value: T").Output("y: T").Attr("T: type").Attr("index_type: type = DT_INT32");
REGISTER_OP("Mul").Input("x: T").Input("y: T").Output("z: T").Attr("T: type");
REGISTER_OP("Cast").Input("x: SrcT").Output("y: DstT").Attr("SrcT: type").Attr("DstT: type").Attr("Truncate: bool = false");
REGISTER_OP("ConcatV2").Input("values: N * T").Input("axis: int32").Output("y: T").Attr("N: int").Attr("T: type");
REGISTER_OP("BiasAdd").Input("x: T").Input("b: T").Output("y: T").Attr("T: type").Attr("data_format: string = 'NHWC'");
REGISTER_OP("Sigmoid").Input("x: T").Output("y: T").Attr("T: type");
REGISTER_OP("Tanh").Input("x: T").Output("y: T").Attr("T: type");
REGISTER_OP("Square").Input("x: T").Output("y: T").Attr("T: type");
REGISTER_OP("Rsqrt").Input("x: T").Output("y: T").Attr("T: type");
REGISTER_OP("Maximum").Input("x: T").Input("y: T").Output("z: T").Attr("T: type");
REGISTER_OP("FusedL2Normalize")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: type")
    .Attr("axis: int = 1")
    .Attr("epsilon: float = 1e-12");
REGISTER_OP("Select").Input("c: bool").Input("t: T").Input("e: T").Output("y: T").Attr("T: type");
REGISTER_OP("SelectV2").Input("c: bool").Input("t: T").Input("e: T").Output("y: T").Attr("T: type");
REGISTER_OP("Reshape").Input("x: T").Input("shape: int32").Output("y: T").Attr("T: type");
REGISTER_OP("Tile").Input("x: T").Input("multiples: int32").Output("y: T").Attr("T: type");
REGISTER_OP("SparseReshape").Input("i: int64").Input("s: int64").Input("n: int64").Output("j: int64").Output("t: int64");
REGISTER_OP("Pack").Input("values: N * T").Output("y: T").Attr("N: int").Attr("T: type");
REGISTER_OP("Prod").Input("x: T").Input("axes: int32").Output("y: T").Attr("T: type").Attr("keep_dims: bool = false");
REGISTER_OP("Sum").Input("x: T").Input("axes: int32").Output("y: T").Attr("T: type").Attr("keep_dims: bool = false");
REGISTER_OP("Slice").Input("x: T").Input("begin: int32").Input("size: int32").Output("y: T").Attr("T: type");
REGISTER_OP("GatherV2").Input("p: T").Input("i: int32").Input("axis: int32").Output("y: T").Attr("T: type").Attr("batch_dims: int = 0");
REGISTER_OP("OneHot")
    .Input("indices: TI")
    .Input("depth: int32")
    .Input("on: T")
    .Input("off: T")
    .Output("y: T")
    .Attr("axis: int = -1")
    .Attr("T: type")
    .Attr("TI: type = DT_INT64");

}  // namespace
}  // namespace tensorflow
