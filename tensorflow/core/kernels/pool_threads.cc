#include "tensorflow/core/kernels/pool_threads.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "tensorflow/core/sparse/run_parts.h"

namespace tensorflow {

deeprec::sparse::Threads PoolThreads(OpKernelContext* ctx) {
  deeprec::sparse::Threads threads;
  const auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
  if (workers == nullptr || workers->workers == nullptr) return threads;
  threads.count = workers->num_threads;
  thread::ThreadPool* const pool = workers->workers;
  threads.run = [pool, count = threads.count](int n, const std::function<void(int)>& body) {
    deeprec::sparse::RunParts(
        n, std::min(n, count) - 1, [pool](std::function<void()> closure) { pool->Schedule(std::move(closure)); }, body);
  };
  return threads;
}

}  // namespace tensorflow
