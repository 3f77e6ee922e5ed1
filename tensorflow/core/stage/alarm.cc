#include "tensorflow/core/stage/alarm.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace deeprec {
namespace stage {

// Apart from the alarm, because the thread outlives an alarm that its own call destroys.
struct Alarm::State {
  std::function<Time()> ring;
  std::mutex mu;
  std::condition_variable changed;
  Time time = kNever;
  bool started = false;
  bool over = false;
};

Alarm::Alarm(std::function<Time()> ring) : state_(std::make_shared<State>()) { state_->ring = std::move(ring); }

Alarm::~Alarm() {
  {
    const std::lock_guard<std::mutex> lock(state_->mu);
    state_->over = true;
  }
  state_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Alarm::At(Time time) {
  {
    const std::lock_guard<std::mutex> lock(state_->mu);
    if (time >= state_->time) return;
    state_->time = time;
    if (!state_->started) {
      state_->started = true;
      thread_ = std::thread([state = state_] { Run(state); });
      return;
    }
  }
  state_->changed.notify_all();
}

void Alarm::Run(const std::shared_ptr<State>& state) {
  std::unique_lock<std::mutex> lock(state->mu);
  while (!state->over) {
    if (state->time == kNever) {
      state->changed.wait(lock);
      continue;
    }
    if (std::chrono::steady_clock::now() < state->time) {
      // A copy: the wait reads it again after it has given the lock away.
      const Time time = state->time;
      state->changed.wait_until(lock, time);
      continue;
    }
    state->time = kNever;
    lock.unlock();
    const Time next = state->ring();
    lock.lock();
    state->time = std::min(state->time, next);
  }
}

}  // namespace stage
}  // namespace deeprec
