// Arithmetic on blocks of float rows: products with small matrices, activations and sums, for cells of recurrent networks.
//
// The boundary to the per-ISA code: as in core/sparse/row_update.h, nothing here or below includes a C++ standard header.

#ifndef TENSORFLOW_CORE_RECURRENT_BLOCK_KERNELS_H_
#define TENSORFLOW_CORE_RECURRENT_BLOCK_KERNELS_H_

#include <stddef.h>
#include <stdint.h>

namespace deeprec {
namespace recurrent {

// Rows of a block, `stride` floats apart. Where a function has a width, only so many floats of a row are read or written.
struct Rows {
  float* data;
  int64_t stride;
};

// c (+)= a b, of c [m, n], a [m, k], b [k, n]. Element (i, l) of a is at i * a_row + l * a_column, so a may be transposed.
struct Product {
  const float* a;
  int64_t a_row, a_column;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  int64_t m, k, n;
  bool add;
};

enum class Function : int { kSigmoid = 0, kTanh, kRelu };
constexpr int kNumFunctions = 3;

enum class Operation : int { kAdd = 0, kSubtract, kMultiply };
constexpr int kNumOperations = 3;

// An operand of a binary operation. step: 1 for a matrix as wide as the result, 0 for one of width 1, whose number counts for the
// whole row. A vector is a matrix of stride 0.
struct Operand {
  const float* data;
  int64_t stride;
  int step;
};

struct KernelTable {
  void (*multiply)(const Product& product);
  // y = f(x)
  void (*function[kNumFunctions])(Rows x, Rows y, int64_t rows, int64_t width);
  // dx += dy f'(x), from y = f(x)
  void (*function_gradient[kNumFunctions])(Rows y, Rows dy, Rows dx, int64_t rows, int64_t width);
  // y = scale x + offset
  void (*affine)(Rows x, float scale, float offset, Rows y, int64_t rows, int64_t width);
  // y = a op b
  void (*binary[kNumOperations])(Operand a, Operand b, Rows y, int64_t rows, int64_t width);
  // y += scale a, or y += a b where b is not null; y has one number a row (sums over columns) if `to_column`, and is one row
  // (sums over rows) if y.stride is 0.
  void (*accumulate)(Operand a, const Operand* b, float scale, Rows y, bool to_column, int64_t rows, int64_t width);
};

extern const KernelTable kScalarBlockKernels;
extern const KernelTable kAvx2BlockKernels;
extern const KernelTable kAvx512BlockKernels;

}  // namespace recurrent
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_RECURRENT_BLOCK_KERNELS_H_
