#include "tensorflow/core/sparse/run_parts.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

namespace deeprec {
namespace sparse {
namespace {

// About 30 us.
constexpr int kSpins = 1000;

class Parts {
 public:
  Parts(int parts, const std::function<void(int)>* body) : parts_(parts), body_(body) {}

  // Works until no part is left. A helper that finds none does not touch the body, which may be gone.
  void Work() {
    for (int part; (part = next_.fetch_add(1, std::memory_order_relaxed)) < parts_;) {
      if (!failed_.load(std::memory_order_relaxed)) Run(part);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < parts_) continue;
      const std::lock_guard<std::mutex> lock(mu_);
      all_done_.notify_one();
    }
  }

  void WaitAndRethrow() {
    for (int i = 0; i < kSpins && !Done(); ++i) __builtin_ia32_pause();
    // Also where the caller ended the last part itself: whoever did notifies under the lock, and is past the body then.
    std::unique_lock<std::mutex> lock(mu_);
    all_done_.wait(lock, [this] { return Done(); });
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  bool Done() const { return done_.load(std::memory_order_acquire) == parts_; }

  void Run(int part) {
    try {
      (*body_)(part);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mu_);
      if (error_ == nullptr) error_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  const int parts_;
  const std::function<void(int)>* const body_;
  std::atomic<int> next_{0}, done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mu_;
  std::condition_variable all_done_;
  std::exception_ptr error_;
};

}  // namespace

void RunParts(int parts, int helpers, const std::function<void(std::function<void()>)>& schedule,
              const std::function<void(int)>& body) {
  const auto shared = std::make_shared<Parts>(parts, &body);
  for (int i = 0; i < helpers; ++i) schedule([shared] { shared->Work(); });
  shared->Work();
  shared->WaitAndRethrow();
}

}  // namespace sparse
}  // namespace deeprec
