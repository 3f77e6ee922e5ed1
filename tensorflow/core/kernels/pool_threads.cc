#include "tensorflow/core/kernels/pool_threads.h"

#include <functional>

namespace tensorflow {

deeprec::sparse::Threads PoolThreads(OpKernelContext* ctx) {
  deeprec::sparse::Threads threads;
  const auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
  if (workers == nullptr || workers->workers == nullptr) return threads;
  threads.count = workers->num_threads;
  thread::ThreadPool* const pool = workers->workers;
  threads.run = [pool](int n, const std::function<void(int)>& body) {
    pool->ParallelFor(n, thread::ThreadPool::SchedulingParams::Fixed(1),
                      [&body](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) body(static_cast<int>(i));
                      });
  };
  return threads;
}

}  // namespace tensorflow
