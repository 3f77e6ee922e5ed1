#include "tensorflow/core/recurrent/loop.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "tensorflow/core/recurrent/block.h"

namespace deeprec {
namespace recurrent {
namespace {

// A block of the forward pass: enough rows that a matrix, once in the first cache, is used often.
constexpr int64_t kForwardRows = 64;
// What a block of the gradient keeps of all its steps should stay in the second cache, less what else is there.
constexpr int64_t kKeptFloats = (int64_t{3} << 20) / 2 / sizeof(float);
constexpr int64_t kMinRows = 8;
// Parts of the gradient, each with sums of its own: as many as threads would gain from, and fixed, for equal results everywhere.
constexpr int64_t kMaxParts = 16;

struct FreeMemory {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<float[], FreeMemory>;

// Not initialised; aligned as the widest vectors.
Memory NewMemory(int64_t floats) {
  return Memory(static_cast<float*>(::operator new[](std::max<int64_t>(floats, 1) * sizeof(float), std::align_val_t{64})));
}

// Rows of the batch in the order they are worked on, and the blocks of them.
struct Blocks {
  Blocks(const std::vector<int64_t>& lengths, int64_t rows_of_block) : rows(rows_of_block), order(lengths.size()) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return lengths[a] > lengths[b]; });
    count = (static_cast<int64_t>(order.size()) + rows - 1) / rows;
  }
  const int64_t* Begin(int64_t block) const { return order.data() + block * rows; }
  int64_t Size(int64_t block) const { return std::min<int64_t>(rows, static_cast<int64_t>(order.size()) - block * rows); }

  int64_t rows, count;
  std::vector<int64_t> order;
};

// The values of `program` that are inputs or states, by index; -1 for a state that no value reads.
struct Places {
  explicit Places(const Program& program) : inputs(program.input_widths.size(), -1), states(program.state_widths.size(), -1) {
    for (size_t id = 0; id < program.values.size(); ++id) {
      const Value& value = program.values[id];
      if (value.code == Code::kInput) inputs[value.index] = static_cast<int>(id);
      if (value.code == Code::kState) states[value.index] = static_cast<int>(id);
    }
  }
  std::vector<int> inputs, states;
};

void CopyRow(const float* from, float* to, int64_t width) { std::memcpy(to, from, width * sizeof(float)); }

// Goes through the time steps of blocks, one at a time.
class BlockLoop {
 public:
  BlockLoop(const LoopArguments& arguments, const Blocks& blocks, const Places& places, const KernelTable& kernels)
      : arguments_(arguments), program_(*arguments.program), blocks_(blocks), places_(places), kernels_(kernels) {
    for (const int64_t width : program_.state_widths) states_.push_back(NewMemory(blocks.rows * width));
  }

  // Rows that are still running at `step`, of which the block's first have the most steps.
  int64_t Running(int64_t block, int64_t step) const {
    const int64_t* const rows = blocks_.Begin(block);
    int64_t n = blocks_.Size(block);
    while (n > 0 && arguments_.lengths[rows[n - 1]] <= step) --n;
    return n;
  }

  void Begin(int64_t block) {
    const int64_t* const rows = blocks_.Begin(block);
    for (size_t s = 0; s < states_.size(); ++s) {
      const int64_t width = program_.state_widths[s];
      for (int64_t i = 0; i < blocks_.Size(block); ++i) CopyRow(arguments_.states[s] + rows[i] * width, &states_[s][i * width], width);
    }
  }

  // Computes the values of the rows that are running and moves on to the new states.
  void Step(int64_t block, int64_t step, int64_t running, const Slab& slab) {
    const int64_t* const rows = blocks_.Begin(block);
    for (size_t k = 0; k < places_.inputs.size(); ++k) {
      const int64_t width = program_.input_widths[k];
      const Rows to = slab.Of(program_, places_.inputs[k]);
      const float* const from = arguments_.inputs[k] + step * arguments_.batch * width;
      for (int64_t i = 0; i < running; ++i) CopyRow(from + rows[i] * width, to.data + i * to.stride, width);
    }
    for (size_t s = 0; s < states_.size(); ++s) {
      if (places_.states[s] < 0) continue;
      const int64_t width = program_.state_widths[s];
      const Rows to = slab.Of(program_, places_.states[s]);
      for (int64_t i = 0; i < running; ++i) CopyRow(&states_[s][i * width], to.data + i * to.stride, width);
    }
    ComputeValues(program_, arguments_.captures, slab, running, kernels_);
    for (size_t s = 0; s < states_.size(); ++s) {
      const int64_t width = program_.state_widths[s];
      const Rows from = slab.Of(program_, program_.new_states[s]);
      for (int64_t i = 0; i < running; ++i) CopyRow(from.data + i * from.stride, &states_[s][i * width], width);
    }
  }

  const float* State(size_t s) const { return states_[s].get(); }

 private:
  const LoopArguments& arguments_;
  const Program& program_;
  const Blocks& blocks_;
  const Places& places_;
  const KernelTable& kernels_;
  std::vector<Memory> states_;
};

// Rows [begin, end) of a block have ended at `step`: zero there.
void ClearEnded(float* tensor, const LoopArguments& arguments, int64_t step, const int64_t* rows, int64_t begin, int64_t end,
                int64_t width) {
  for (int64_t i = begin; i < end; ++i) {
    std::memset(tensor + (step * arguments.batch + rows[i]) * width, 0, width * sizeof(float));
  }
}

void Run(int64_t parts, const sparse::Threads& threads, const std::function<void(int)>& body) {
  if (parts > 1 && threads.count > 1) {
    threads.run(static_cast<int>(parts), body);
  } else {
    for (int part = 0; part < parts; ++part) body(part);
  }
}

// [rows, columns] -> [columns, rows]
void Transpose(const float* from, int64_t rows, int64_t columns, float* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
}

int64_t Size(const Capture& capture) { return std::max<int64_t>(capture.rows, 1) * capture.columns; }

// What the parts of the gradient share.
struct GradientPlan {
  const LoopArguments& arguments;
  const LoopGradients& gradients;
  const KernelTable& kernels;
  const Blocks& blocks;
  const Places& places;
};

// The gradient of one block, whose values of all steps are kept in `kept`.
void BlockGradient(const GradientPlan& plan, int64_t block, BlockLoop* loop, float* kept, float* slopes, std::vector<Memory>* state_slopes,
                   const CaptureSums& sums) {
  const LoopArguments& arguments = plan.arguments;
  const Program& program = *arguments.program;
  const int64_t* const rows = plan.blocks.Begin(block);
  const int64_t size = plan.blocks.Size(block), capacity = plan.blocks.rows, slab_size = capacity * program.row_size;
  loop->Begin(block);
  int64_t steps = 0;
  for (; steps < arguments.steps; ++steps) {
    const int64_t running = loop->Running(block, steps);
    if (running == 0) break;
    loop->Step(block, steps, running, {kept + steps * slab_size, capacity});
  }
  for (size_t k = 0; k < program.input_widths.size(); ++k) {
    for (int64_t step = 0; step < arguments.steps; ++step) {
      ClearEnded(plan.gradients.inputs[k], arguments, step, rows, loop->Running(block, step), size, program.input_widths[k]);
    }
  }
  for (size_t s = 0; s < state_slopes->size(); ++s) {
    const int64_t width = program.state_widths[s];
    for (int64_t i = 0; i < size; ++i) CopyRow(plan.gradients.new_states[s] + rows[i] * width, &(*state_slopes)[s][i * width], width);
  }
  const Slab slope_slab{slopes, capacity};
  for (int64_t step = steps; step-- > 0;) {
    const int64_t running = loop->Running(block, step);
    std::memset(slopes, 0, slab_size * sizeof(float));
    for (size_t k = 0; k < program.outputs.size(); ++k) {
      const int64_t width = program.values[program.outputs[k]].width;
      const Rows to = slope_slab.Of(program, program.outputs[k]);
      const float* const from = plan.gradients.outputs[k] + step * arguments.batch * width;
      for (int64_t i = 0; i < running; ++i) {
        for (int64_t j = 0; j < width; ++j) to.data[i * to.stride + j] += from[rows[i] * width + j];
      }
    }
    for (size_t s = 0; s < state_slopes->size(); ++s) {
      const int64_t width = program.state_widths[s];
      float* const from = (*state_slopes)[s].get();
      plan.kernels.accumulate({from, width, 1}, nullptr, 1, slope_slab.Of(program, program.new_states[s]), false, running, width);
      std::memset(from, 0, running * width * sizeof(float));
    }
    AddGradients(program, arguments.captures, {kept + step * slab_size, capacity}, slope_slab, sums, running, plan.kernels);
    for (size_t k = 0; k < program.input_widths.size(); ++k) {
      const int64_t width = program.input_widths[k];
      const Rows from = slope_slab.Of(program, plan.places.inputs[k]);
      float* const to = plan.gradients.inputs[k] + step * arguments.batch * width;
      for (int64_t i = 0; i < running; ++i) CopyRow(from.data + i * from.stride, to + rows[i] * width, width);
    }
    for (size_t s = 0; s < state_slopes->size(); ++s) {
      if (plan.places.states[s] < 0) continue;
      const int64_t width = program.state_widths[s];
      const Rows from = slope_slab.Of(program, plan.places.states[s]);
      for (int64_t i = 0; i < running; ++i) CopyRow(from.data + i * from.stride, &(*state_slopes)[s][i * width], width);
    }
  }
  for (size_t s = 0; s < state_slopes->size(); ++s) {
    const int64_t width = program.state_widths[s];
    for (int64_t i = 0; i < size; ++i) CopyRow(&(*state_slopes)[s][i * width], plan.gradients.states[s] + rows[i] * width, width);
  }
}

}  // namespace

const KernelTable& BlockKernels(sparse::Isa isa) {
  switch (isa) {
    case sparse::Isa::kAvx512: return kAvx512BlockKernels;
    case sparse::Isa::kAvx2: return kAvx2BlockKernels;
    case sparse::Isa::kScalar: break;
  }
  return kScalarBlockKernels;
}

void RunLoop(const LoopArguments& arguments, const LoopResults& results, const KernelTable& kernels, const sparse::Threads& threads) {
  const Program& program = *arguments.program;
  const Blocks blocks(arguments.lengths, kForwardRows);
  const Places places(program);
  Run(blocks.count, threads, [&](int block) {
    BlockLoop loop(arguments, blocks, places, kernels);
    const Memory memory = NewMemory(blocks.rows * program.row_size);
    const Slab slab{memory.get(), blocks.rows};
    const int64_t* const rows = blocks.Begin(block);
    const int64_t size = blocks.Size(block);
    loop.Begin(block);
    for (int64_t step = 0; step < arguments.steps; ++step) {
      const int64_t running = loop.Running(block, step);
      if (running > 0) loop.Step(block, step, running, slab);
      for (size_t k = 0; k < results.outputs.size(); ++k) {
        const int64_t width = program.values[program.outputs[k]].width;
        const Rows from = slab.Of(program, program.outputs[k]);
        float* const to = results.outputs[k] + step * arguments.batch * width;
        for (int64_t i = 0; i < running; ++i) CopyRow(from.data + i * from.stride, to + rows[i] * width, width);
        ClearEnded(results.outputs[k], arguments, step, rows, running, size, width);
      }
    }
    for (size_t s = 0; s < results.new_states.size(); ++s) {
      const int64_t width = program.state_widths[s];
      for (int64_t i = 0; i < size; ++i) CopyRow(loop.State(s) + i * width, results.new_states[s] + rows[i] * width, width);
    }
  });
}

void RunLoopGradient(const LoopArguments& arguments, const LoopGradients& gradients, const KernelTable& kernels,
                     const sparse::Threads& threads) {
  const Program& program = *arguments.program;
  const int64_t longest = arguments.lengths.empty() ? 0 : *std::max_element(arguments.lengths.begin(), arguments.lengths.end());
  const int64_t kept_row = std::max<int64_t>(longest * program.row_size, 1);
  const Blocks blocks(arguments.lengths, std::min(kForwardRows, std::max(kMinRows, kKeptFloats / kept_row / 8 * 8)));
  const Places places(program);
  const GradientPlan plan{arguments, gradients, kernels, blocks, places};
  const int64_t parts = std::min(blocks.count, kMaxParts);

  CaptureSums shared;
  std::vector<Memory> transposed;
  int64_t sum_size = 0;
  for (size_t c = 0; c < program.captures.size(); ++c) {
    const Capture& capture = program.captures[c];
    sum_size += Program::Stride(Size(capture));
    shared.transposed.push_back(nullptr);
    if (capture.rows == 0) continue;
    transposed.push_back(NewMemory(Size(capture)));
    Transpose(arguments.captures[c], capture.rows, capture.columns, transposed.back().get());
    shared.transposed.back() = transposed.back().get();
  }
  const Memory sums = NewMemory(parts * sum_size);
  std::memset(sums.get(), 0, parts * sum_size * sizeof(float));

  Run(parts, threads, [&](int part) {
    CaptureSums own = shared;
    float* at = sums.get() + part * sum_size;
    for (const Capture& capture : program.captures) {
      own.sums.push_back(at);
      at += Program::Stride(Size(capture));
    }
    BlockLoop loop(arguments, blocks, places, kernels);
    const Memory kept = NewMemory(longest * blocks.rows * program.row_size), slopes = NewMemory(blocks.rows * program.row_size);
    std::vector<Memory> state_slopes;
    for (const int64_t width : program.state_widths) state_slopes.push_back(NewMemory(blocks.rows * width));
    // Dealt out in turn, as the first blocks have the longest rows.
    for (int64_t block = part; block < blocks.count; block += parts) {
      BlockGradient(plan, block, &loop, kept.get(), slopes.get(), &state_slopes, own);
    }
  });

  int64_t begin = 0;
  for (size_t c = 0; c < program.captures.size(); ++c) {
    const int64_t size = Size(program.captures[c]);
    std::memset(gradients.captures[c], 0, size * sizeof(float));
    for (int64_t part = 0; part < parts; ++part) {
      kernels.accumulate({sums.get() + part * sum_size + begin, size, 1}, nullptr, 1, {gradients.captures[c], size}, false, 1, size);
    }
    begin += Program::Stride(size);
  }
}

}  // namespace recurrent
}  // namespace deeprec
