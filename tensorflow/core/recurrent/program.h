// What a recurrent cell computes in one time step, as a list of values.
//
// Every value is a matrix of one row for each example of the batch and `width` columns, made of values before it and of captures:
// tensors from outside of the loop (weights, biases), the same in each step.

#ifndef TENSORFLOW_CORE_RECURRENT_PROGRAM_H_
#define TENSORFLOW_CORE_RECURRENT_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

namespace deeprec {
namespace recurrent {

enum class Code : int64_t {
  kInput = 0,   // input `index` of this time step
  kState,       // state `index` before this step
  kConcat,      // of its operands, side by side
  kSlice,       // columns from `index` on
  kMatMul,      // operand times capture `index` of [its width, width]
  kAddVector,   // operand + capture `index` of [width]
  kMulVector,   // operand * capture `index` of [width]
  kAdd,         // of two operands; one may have width 1 and counts for the whole row then
  kSubtract,
  kMultiply,
  kAffine,      // scale * operand + offset
  kSigmoid,
  kTanh,
  kRelu,
};
constexpr int64_t kNumCodes = 14;

struct Value {
  Code code;
  int64_t width;
  int64_t index;
  std::vector<int> operands;
  float scale, offset;
  // Where the value lies: a slice lies within another value, everything else on its own.
  int root;
  int64_t column;
};

struct Capture {
  int64_t rows, columns;  // rows: 0 for a vector
  bool used = false;
};

struct Program {
  std::vector<Value> values;
  std::vector<int> outputs, new_states;  // values
  std::vector<int64_t> input_widths, state_widths;
  std::vector<Capture> captures;  // the shapes that they must have
  // Floats of a row of all values that lie on their own, and where each begins; strides are whole cache lines.
  int64_t row_size = 0;
  std::vector<int64_t> begin;

  static int64_t Stride(int64_t width) { return (width + 15) / 16 * 16; }

  // From the form in which graphs hold it: for each value the integers [code, width, index, number of operands, operands...] and
  // the two floats [scale, offset]. Returns what is wrong with it; empty if nothing is.
  std::string Parse(const std::vector<int64_t>& integers, const std::vector<float>& floats, const std::vector<int64_t>& output_values,
                    const std::vector<int64_t>& new_state_values, int num_inputs, int num_captures);
};

}  // namespace recurrent
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_RECURRENT_PROGRAM_H_
