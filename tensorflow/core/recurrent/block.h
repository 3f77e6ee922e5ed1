// One block of rows in one time step: the values of a program, and their gradients.

#ifndef TENSORFLOW_CORE_RECURRENT_BLOCK_H_
#define TENSORFLOW_CORE_RECURRENT_BLOCK_H_

#include <cstdint>
#include <vector>

#include "tensorflow/core/recurrent/block_kernels.h"
#include "tensorflow/core/recurrent/program.h"

namespace deeprec {
namespace recurrent {

// Where the values of a block of up to `capacity` rows lie, from `data` on: capacity * row_size floats.
struct Slab {
  float* data;
  int64_t capacity;

  Rows Of(const Program& program, int value) const {
    const Value& v = program.values[value];
    const int64_t stride = Program::Stride(program.values[v.root].width);
    return {data + program.begin[v.root] * capacity + v.column, stride};
  }
};

// Computes all values but inputs and states, which the caller has put there, of the first `rows` rows.
void ComputeValues(const Program& program, const std::vector<const float*>& captures, const Slab& slab, int64_t rows,
                   const KernelTable& kernels);

// Where the gradients of captures are summed, and the transposes of the ones that are matrices.
struct CaptureSums {
  std::vector<const float*> transposed;  // null for a vector
  std::vector<float*> sums;
};

// From the gradients of some values, in `gradients`, those of all values and captures are made; it is the caller's to begin with
// zeros and to read the ones of inputs and states.
void AddGradients(const Program& program, const std::vector<const float*>& captures, const Slab& slab, const Slab& gradients,
                  const CaptureSums& capture_sums, int64_t rows, const KernelTable& kernels);

}  // namespace recurrent
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_RECURRENT_BLOCK_H_
