// Strings to tensors: names and attributes as DeepRec has them.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;
using shape_inference::UnchangedShape;

absl::Status Scalars(InferenceContext* c, int first) {
  ShapeHandle unused;
  for (int i = first; i < c->num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return absl::OkStatus();
}

// A vector and scalars to [rows, the number in input `columns`]; a negative one is known later.
absl::Status DenseShape(InferenceContext* c, int columns) {
  ShapeHandle texts;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &texts));
  TF_RETURN_IF_ERROR(Scalars(c, 1));
  const Tensor* value = c->input_tensor(columns);
  DimensionHandle size = c->UnknownDim();
  if (value != nullptr && value->scalar<int64_t>()() >= 0) size = c->MakeDim(value->scalar<int64_t>()());
  c->set_output(0, c->Matrix(c->Dim(texts, 0), size));
  return absl::OkStatus();
}

absl::Status SplitAndPadShape(InferenceContext* c) { return DenseShape(c, 2); }
absl::Status MatrixShape(InferenceContext* c) { return DenseShape(c, 1); }

// A vector and scalars to a SparseTensor of rank 2.
absl::Status SparseShape(InferenceContext* c) {
  ShapeHandle texts;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &texts));
  TF_RETURN_IF_ERROR(Scalars(c, 1));
  const DimensionHandle entries = c->UnknownDim();
  c->set_output(0, c->Matrix(entries, 2));
  c->set_output(1, c->Vector(entries));
  c->set_output(2, c->Vector(2));
  return absl::OkStatus();
}

absl::Status FlatShape(InferenceContext* c) {
  ShapeHandle texts;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &texts));
  TF_RETURN_IF_ERROR(Scalars(c, 1));
  c->set_output(0, c->Vector(c->UnknownDim()));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("StringSplitAndPad")
    .Input("input: string")
    .Input("delimiter: string")
    .Input("max_length: int64")
    .Input("default_value: string")
    .Output("values: string")
    .SetShapeFn(SplitAndPadShape)
    .Doc(R"doc(
The first fields of each string; empty fields do not count.

input: [rows].
delimiter: each of its characters ends a field; if it is empty, each byte is one.
max_length: number of columns.
default_value: what fills a row with fewer fields.
values: [rows, max_length].
)doc");

REGISTER_OP("StringToHash")
    .Input("input: string")
    .Output("output: int64")
    .Attr("hash_type: {'farm', 'murmur'} = 'farm'")
    .Attr("allow_neg: bool = true")
    .Attr("num_buckets: int >= 0 = 0")
    .SetShapeFn(UnchangedShape)
    .Doc(R"doc(
Hashes strings.

hash_type: "farm", the hash of StringToHashBucketFast, or "murmur", that of StringToHashBucket.
allow_neg: whether all 64 bits are the result, and not the lower 63.
num_buckets: if not 0, results are in [0, num_buckets): the unsigned hash modulo it.
)doc");

REGISTER_OP("StringToHash64")
    .Input("input: string")
    .Output("output: int64")
    .SetShapeFn(UnchangedShape)
    .Doc("The 64 bits whose remainder StringToHashBucketFast gives.");

REGISTER_OP("TransCsvID2Sparse")
    .Input("records: string")
    .Input("max_id: int64")
    .Input("default_value: T")
    .Output("indices: int64")
    .Output("values: T")
    .Output("dense_shape: int64")
    .Attr("T: {int32, int64, float, double}")
    .Attr("id_as_value: bool = true")
    .Attr("field_delim: string = ','")
    .SetShapeFn(SparseShape)
    .Doc(R"doc(
Lists of ids as rows of a SparseTensor with an entry at each id.

records: [rows] texts such as "2,10".
max_id: number of columns; -1048575 for as many as the largest id needs.
default_value: the value of entries, unless id_as_value.
id_as_value: whether the value of an entry is its id.
field_delim: one character.
)doc");

REGISTER_OP("TransCsvID2Dense")
    .Input("records: string")
    .Input("max_id: int64")
    .Input("default_value: T")
    .Output("values: T")
    .Attr("T: {int32, int64, float, double}")
    .Attr("id_as_value: bool = false")
    .Attr("field_delim: string = ','")
    .SetShapeFn(MatrixShape)
    .Doc("TransCsvID2Sparse as a matrix, [rows, max_id]; 0 where there is no id.");

REGISTER_OP("TransCsvKV2Sparse")
    .Input("records: string")
    .Input("max_id: int64")
    .Output("indices: int64")
    .Output("values: T")
    .Output("dense_shape: int64")
    .Attr("T: {int32, int64, float, double} = DT_FLOAT")
    .Attr("field_delim: string = ','")
    .SetShapeFn(SparseShape)
    .Doc(R"doc(
Lists of pairs id:value as rows of a SparseTensor.

records: [rows] texts such as "2:0.5,10:1".
max_id, field_delim: as for TransCsvID2Sparse.
)doc");

REGISTER_OP("TransCsvKV2Dense")
    .Input("records: string")
    .Input("max_id: int64")
    .Output("values: T")
    .Attr("T: {int32, int64, float, double} = DT_FLOAT")
    .Attr("field_delim: string = ','")
    .SetShapeFn(MatrixShape)
    .Doc(R"doc(
TransCsvKV2Sparse as a matrix, [rows, max_id]; 0 where there is no id. Of an id that is there twice, the
last value counts.
)doc");

REGISTER_OP("TransCsvToDense")
    .Input("records: string")
    .Input("max_id: int64")
    .Output("values: T")
    .Attr("T: {int32, int64, float, double} = DT_FLOAT")
    .Attr("field_delim: string = ','")
    .SetShapeFn(MatrixShape)
    .Doc("Lists of numbers as rows of a matrix, [rows, max_id], from the left; the rest is 0.");

REGISTER_OP("SparseDecode")
    .Input("input: string")
    .Input("max_id: int64")
    .Output("indices: int64")
    .Output("values: int64")
    .Output("dense_shape: int64")
    .SetShapeFn(SparseShape)
    .Doc(R"doc(
Serialized tf.train.Int64List messages of ids as rows of a SparseTensor, [rows, max_id], with its id at each.
)doc");

REGISTER_OP("KV2SparseDecode")
    .Input("input: string")
    .Input("max_id: int64")
    .Output("indices: int64")
    .Output("values: float")
    .Output("dense_shape: int64")
    .SetShapeFn(SparseShape)
    .Doc(R"doc(
Serialized messages of ids (repeated int64, field 1) and values (repeated float, field 2) as rows of a SparseTensor.
)doc");

REGISTER_OP("DenseDecode")
    .Input("input: string")
    .Output("values: T")
    .Attr("T: {float, int32}")
    .SetShapeFn(FlatShape)
    .Doc(R"doc(
Serialized lists of equal length (tf.train.FloatList, or the same of int32), one behind the other.

values: [rows * length].
)doc");

REGISTER_OP("KV2DenseDecode")
    .Input("input: string")
    .Input("max_id: int64")
    .Output("values: float")
    .SetShapeFn(FlatShape)
    .Doc("KV2SparseDecode as rows one behind the other, [rows * max_id]; 0 where there is no id.");

}  // namespace tensorflow
