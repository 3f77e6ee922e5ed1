// Milliseconds and GFLOP/s of a GRU over all steps of a batch: loop_bench [batch steps inputs units threads first_isa].

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "tensorflow/core/recurrent/loop.h"

namespace deeprec {
namespace recurrent {
namespace {

Program Gru(int64_t in, int64_t units) {
  const std::vector<int64_t> integers = {
      0,  in,         0, 0,             // 0: x
      1,  units,      0, 0,             // 1: h
      2,  in + units, 0, 2, 0, 1,       // 2: [x, h]
      4,  2 * units,  0, 1, 2,          // 3: times W
      5,  2 * units,  1, 1, 3,          // 4: + b
      11, 2 * units,  0, 1, 4,          // 5: gates
      3,  units,      0, 1, 5,          // 6: r
      3,  units,      units, 1, 5,      // 7: u
      9,  units,      0, 2, 6, 1,       // 8: r h
      2,  in + units, 0, 2, 0, 8,       // 9: [x, r h]
      4,  units,      2, 1, 9,          // 10
      5,  units,      3, 1, 10,         // 11
      12, units,      0, 1, 11,         // 12: c
      9,  units,      0, 2, 7, 1,       // 13: u h
      10, units,      0, 1, 7,          // 14: 1 - u
      9,  units,      0, 2, 14, 12,     // 15
      7,  units,      0, 2, 13, 15,     // 16: new state
  };
  std::vector<float> scalars(34, 0.0f);
  scalars[28] = -1;
  scalars[29] = 1;
  Program program;
  const std::string wrong = program.Parse(integers, scalars, {16}, {16}, 1, 4);
  if (!wrong.empty()) std::printf("%s\n", wrong.c_str());
  return program;
}

template <class F>
double BestMs(F run) {
  double best = 1e9;
  for (int i = 0; i < 15; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

int Main(int64_t batch, int64_t steps, int64_t in, int64_t units, int threads, int first_isa) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal(0, 0.3f);
  const auto random = [&](int64_t n) {
    std::vector<float> x(n);
    for (float& v : x) v = normal(engine);
    return x;
  };
  const Program program = Gru(in, units);
  const std::vector<float> x = random(steps * batch * in), h = random(batch * units), w = random((in + units) * 2 * units),
                           b = random(2 * units), v = random((in + units) * units), d = random(units);
  std::vector<float> y(steps * batch * units), last(batch * units), dx(x.size()), dh(h.size()), dw(w.size()), db(b.size()),
      dv(v.size()), dd(d.size());
  LoopArguments arguments;
  arguments.program = &program;
  arguments.steps = steps;
  arguments.batch = batch;
  arguments.lengths.assign(batch, steps);
  arguments.inputs = {x.data()};
  arguments.states = {h.data()};
  arguments.captures = {w.data(), b.data(), v.data(), d.data()};
  sparse::Threads pool;
  pool.count = threads;
  pool.run = [threads](int n, const std::function<void(int)>& body) {
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        for (int i = t; i < n; i += threads) body(i);
      });
    }
    for (std::thread& worker : workers) worker.join();
  };
  const double flops = 2.0 * batch * steps * (in + units) * 3 * units;
  for (int isa = first_isa; isa <= static_cast<int>(sparse::BestIsa()); ++isa) {
    const KernelTable& kernels = BlockKernels(static_cast<sparse::Isa>(isa));
    const double forward = BestMs([&] { RunLoop(arguments, {{y.data()}, {last.data()}}, kernels, pool); });
    const LoopGradients gradients = {{y.data()}, {last.data()}, {dx.data()}, {dh.data()}, {dw.data(), db.data(), dv.data(), dd.data()}};
    const double backward = BestMs([&] { RunLoopGradient(arguments, gradients, kernels, pool); });
    std::printf("%-7s forward %7.2f ms %6.1f GFLOP/s   gradient %7.2f ms %6.1f GFLOP/s\n",
                sparse::IsaName(static_cast<sparse::Isa>(isa)), forward, flops / forward / 1e6, backward, 3 * flops / backward / 1e6);
  }
  return 0;
}

}  // namespace
}  // namespace recurrent
}  // namespace deeprec

int main(int argc, char** argv) {
  const auto number = [&](int i, int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  return deeprec::recurrent::Main(number(1, 512), number(2, 50), number(3, 36), number(4, 36), static_cast<int>(number(5, 2)), static_cast<int>(number(6, 0)));
}
