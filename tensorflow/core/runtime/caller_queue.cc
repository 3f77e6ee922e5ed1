#include "tensorflow/core/runtime/caller_queue.h"

#include <utility>

namespace deeprec {
namespace runtime {
namespace {

// About 20 us.
constexpr int kSpins = 600;

}  // namespace

void CallerQueue::Push(Closure closure) {
  bool help = false;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    if (open_) {
      closures_.push_back(std::move(closure));
      empty_.store(false, std::memory_order_release);
      // The first is for a caller that waits.
      help = draining_ && helpers_ < max_helpers_ && closures_.size() > (idle_ ? 1 : 0);
      if (!help) return;
      ++helpers_;
    }
  }
  if (help) {
    CallHelper();
  } else {
    pool_(std::move(closure));
  }
}

void CallerQueue::CallHelper() {
  pool_([self = shared_from_this()] { self->Help(); });
}

CallerQueue::Closure CallerQueue::Pop(bool helper) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (closures_.empty()) {
    if (helper) --helpers_;
    return nullptr;
  }
  Closure closure = std::move(closures_.front());
  closures_.pop_front();
  if (closures_.empty()) empty_.store(true, std::memory_order_release);
  return closure;
}

void CallerQueue::Help() {
  while (Closure closure = Pop(/*helper=*/true)) closure();
}

void CallerQueue::Drain(bool wide) {
  bool help;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    draining_ = true;
    help = wide && helpers_ < max_helpers_ && closures_.size() > 1;
    if (help) ++helpers_;
  }
  if (help) CallHelper();
  do {
    while (Closure closure = Pop(/*helper=*/false)) closure();
  } while (WaitForWork());
}

bool CallerQueue::WaitForWork() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    if (!closures_.empty()) return true;
    idle_ = true;
  }
  for (int i = 0; i < kSpins && !finished_.load(std::memory_order_acquire); ++i) {
    if (!empty_.load(std::memory_order_acquire)) break;
    __builtin_ia32_pause();
  }
  const std::lock_guard<std::mutex> lock(mu_);
  idle_ = false;
  if (!closures_.empty()) return true;
  open_ = false;
  return false;
}

}  // namespace runtime
}  // namespace deeprec
