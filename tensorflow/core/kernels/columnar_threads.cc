#include "tensorflow/core/kernels/columnar_threads.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tensorflow/core/sparse/run_parts.h"

namespace tensorflow {
namespace columnar {
namespace {

// A text takes some 20 ns, and waking a thread some 50 us.
constexpr int64_t kElementsPerThread = 10000;

}  // namespace

absl::Status MakeFields(data::IteratorContext* ctx, int count, int64_t elements,
                        const std::function<absl::Status(int, std::vector<Tensor>*)>& make,
                        std::vector<Tensor>* tensors) {
  std::vector<std::vector<Tensor>> made(count);
  std::vector<absl::Status> statuses(count);
  const int64_t threads =
      std::min<int64_t>({ctx->runner_threadpool_size(), count, elements / kElementsPerThread});
  const std::function<void(std::function<void()>)>& runner = *ctx->runner();
  deeprec::sparse::RunParts(
      count, std::max<int64_t>(threads, 1) - 1, [&runner](std::function<void()> closure) { runner(std::move(closure)); },
      [&](int field) { statuses[field] = make(field, &made[field]); });
  for (int field = 0; field < count; ++field) {
    if (!statuses[field].ok()) return statuses[field];
    std::move(made[field].begin(), made[field].end(), std::back_inserter(*tensors));
  }
  return absl::OkStatus();
}

}  // namespace columnar
}  // namespace tensorflow
