#include "tensorflow/core/recurrent/block.h"

#include <cstring>

namespace deeprec {
namespace recurrent {
namespace {

Operand AsOperand(Rows rows, int64_t width, int64_t result_width) {
  return {rows.data, rows.stride, width == result_width ? 1 : 0};
}

Operand AsOperand(Rows rows) { return {rows.data, rows.stride, 1}; }
Operand AsOperand(const float* vector) { return {vector, 0, 1}; }

void Copy(Rows from, Rows to, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) std::memcpy(to.data + i * to.stride, from.data + i * from.stride, width * sizeof(float));
}

int FunctionOf(Code code) { return static_cast<int>(code) - static_cast<int>(Code::kSigmoid); }
int OperationOf(Code code) { return static_cast<int>(code) - static_cast<int>(Code::kAdd); }

}  // namespace

void ComputeValues(const Program& program, const std::vector<const float*>& captures, const Slab& slab, int64_t rows,
                   const KernelTable& kernels) {
  for (size_t id = 0; id < program.values.size(); ++id) {
    const Value& value = program.values[id];
    const Rows to = slab.Of(program, static_cast<int>(id));
    const auto operand = [&](int i) { return slab.Of(program, value.operands[i]); };
    switch (value.code) {
      case Code::kInput:
      case Code::kState:
      case Code::kSlice:
        break;
      case Code::kConcat: {
        int64_t column = 0;
        for (size_t i = 0; i < value.operands.size(); ++i) {
          const int64_t width = program.values[value.operands[i]].width;
          Copy(operand(static_cast<int>(i)), {to.data + column, to.stride}, rows, width);
          column += width;
        }
        break;
      }
      case Code::kMatMul: {
        const Rows from = operand(0);
        kernels.multiply({from.data, from.stride, 1, captures[value.index], value.width, to.data, to.stride, rows,
                          program.values[value.operands[0]].width, value.width, false});
        break;
      }
      case Code::kAddVector:
      case Code::kMulVector: {
        const auto operation = value.code == Code::kAddVector ? Operation::kAdd : Operation::kMultiply;
        kernels.binary[static_cast<int>(operation)](AsOperand(operand(0)), AsOperand(captures[value.index]), to, rows, value.width);
        break;
      }
      case Code::kAdd:
      case Code::kSubtract:
      case Code::kMultiply: {
        const int64_t left = program.values[value.operands[0]].width, right = program.values[value.operands[1]].width;
        kernels.binary[OperationOf(value.code)](AsOperand(operand(0), left, value.width), AsOperand(operand(1), right, value.width),
                                                to, rows, value.width);
        break;
      }
      case Code::kAffine:
        kernels.affine(operand(0), value.scale, value.offset, to, rows, value.width);
        break;
      case Code::kSigmoid:
      case Code::kTanh:
      case Code::kRelu:
        kernels.function[FunctionOf(value.code)](operand(0), to, rows, value.width);
        break;
    }
  }
}

void AddGradients(const Program& program, const std::vector<const float*>& captures, const Slab& slab, const Slab& gradients,
                  const CaptureSums& capture_sums, int64_t rows, const KernelTable& kernels) {
  for (size_t id = program.values.size(); id-- > 0;) {
    const Value& value = program.values[id];
    const Rows slope = gradients.Of(program, static_cast<int>(id));
    const Operand dy = AsOperand(slope);
    const auto x = [&](int i) { return slab.Of(program, value.operands[i]); };
    const auto dx = [&](int i) { return gradients.Of(program, value.operands[i]); };
    const auto width = [&](int i) { return program.values[value.operands[i]].width; };
    // Adds scale * dy, or dy * factor, to the gradient of operand i, which may be a column.
    const auto add = [&](int i, const Operand* factor, float scale) {
      kernels.accumulate(dy, factor, scale, dx(i), width(i) != value.width, rows, value.width);
    };
    switch (value.code) {
      case Code::kInput:
      case Code::kState:
      case Code::kSlice:  // lies within that of its operand
        break;
      case Code::kConcat: {
        int64_t column = 0;
        for (size_t i = 0; i < value.operands.size(); ++i) {
          const int operand = static_cast<int>(i);
          kernels.accumulate({slope.data + column, slope.stride, 1}, nullptr, 1, dx(operand), false, rows, width(operand));
          column += width(operand);
        }
        break;
      }
      case Code::kMatMul: {
        const Rows left = x(0), to = dx(0);
        kernels.multiply({slope.data, slope.stride, 1, capture_sums.transposed[value.index], width(0), to.data, to.stride, rows,
                          value.width, width(0), true});
        kernels.multiply({left.data, 1, left.stride, slope.data, slope.stride, capture_sums.sums[value.index], value.width, width(0),
                          rows, value.width, true});
        break;
      }
      case Code::kAddVector:
        add(0, nullptr, 1);
        kernels.accumulate(dy, nullptr, 1, {capture_sums.sums[value.index], 0}, false, rows, value.width);
        break;
      case Code::kMulVector: {
        const Operand vector = AsOperand(captures[value.index]), left = AsOperand(x(0));
        add(0, &vector, 1);
        kernels.accumulate(dy, &left, 1, {capture_sums.sums[value.index], 0}, false, rows, value.width);
        break;
      }
      case Code::kAdd:
      case Code::kSubtract:
        add(0, nullptr, 1);
        add(1, nullptr, value.code == Code::kAdd ? 1 : -1);
        break;
      case Code::kMultiply: {
        const Operand left = AsOperand(x(0), width(0), value.width), right = AsOperand(x(1), width(1), value.width);
        add(0, &right, 1);
        add(1, &left, 1);
        break;
      }
      case Code::kAffine:
        add(0, nullptr, value.scale);
        break;
      case Code::kSigmoid:
      case Code::kTanh:
      case Code::kRelu:
        kernels.function_gradient[FunctionOf(value.code)](slab.Of(program, static_cast<int>(id)), slope, dx(0), rows, value.width);
        break;
    }
  }
}

}  // namespace recurrent
}  // namespace deeprec
