// A recurrent cell over the time steps of a batch, and its gradient.
//
// Rows of a batch do not depend on each other. So they are taken in blocks that go through all time steps alone, on one thread, with
// everything a step makes in the cache. Rows are sorted by length: the ones of a block that are still running are its first.

#ifndef TENSORFLOW_CORE_RECURRENT_LOOP_H_
#define TENSORFLOW_CORE_RECURRENT_LOOP_H_

#include <cstdint>
#include <vector>

#include "tensorflow/core/recurrent/block_kernels.h"
#include "tensorflow/core/recurrent/program.h"
#include "tensorflow/core/sparse/isa.h"
#include "tensorflow/core/sparse/sparse_apply.h"

namespace deeprec {
namespace recurrent {

const KernelTable& BlockKernels(sparse::Isa isa);

// Tensors are dense and row-major: inputs and outputs [steps, batch, width], states [batch, width].
struct LoopArguments {
  const Program* program = nullptr;
  int64_t steps = 0, batch = 0;
  std::vector<int64_t> lengths;  // of each row, in [0, steps]
  std::vector<const float*> inputs, states, captures;
};

struct LoopResults {
  // outputs: zero behind the end of a row. new_states: of its last step, or the state it began with.
  std::vector<float*> outputs, new_states;
};

// Results do not depend on the number of threads.
void RunLoop(const LoopArguments& arguments, const LoopResults& results, const KernelTable& kernels, const sparse::Threads& threads);

struct LoopGradients {
  std::vector<const float*> outputs, new_states;  // of the results: given
  std::vector<float*> inputs, states, captures;   // of the arguments: written
};

// Computes the forward pass again, keeping what a block makes.
void RunLoopGradient(const LoopArguments& arguments, const LoopGradients& gradients, const KernelTable& kernels,
                     const sparse::Threads& threads);

}  // namespace recurrent
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_RECURRENT_LOOP_H_
