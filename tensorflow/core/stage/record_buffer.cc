#include "tensorflow/core/stage/record_buffer.h"

#include <algorithm>
#include <utility>

namespace deeprec {
namespace stage {
namespace {

Alarm::Time In(std::chrono::milliseconds timeout) { return std::chrono::steady_clock::now() + timeout; }

}  // namespace

std::shared_ptr<RecordBuffer> RecordBuffer::Create(size_t capacity) {
  std::shared_ptr<RecordBuffer> buffer(new RecordBuffer(capacity));
  // The alarm is the buffer's, so it must not keep the buffer alive.
  buffer->alarm_ = std::make_unique<Alarm>([weak = std::weak_ptr<RecordBuffer>(buffer)] {
    const std::shared_ptr<RecordBuffer> self = weak.lock();
    return self == nullptr ? Alarm::kNever : self->Expire();
  });
  return buffer;
}

void RecordBuffer::Run(const Calls& calls) {
  for (const auto& call : calls) call();
}

void RecordBuffer::Finish(Waiter waiter, Outcome outcome, Record record, Calls* calls) {
  calls->push_back([done = std::move(waiter.done), outcome, record = std::move(record)] { done(outcome, record); });
}

void RecordBuffer::Settle(Calls* calls) {
  while (true) {
    if (!takes_.empty() && !records_.empty()) {
      Finish(std::move(takes_.front()), Outcome::kDone, std::move(records_.front()), calls);
      takes_.pop_front();
      records_.pop_front();
    } else if (!puts_.empty() && records_.size() < capacity_) {
      records_.push_back(std::move(puts_.front().record));
      Finish(std::move(puts_.front()), Outcome::kDone, nullptr, calls);
      puts_.pop_front();
    } else {
      break;
    }
  }
  if (!ended_ || !records_.empty()) return;
  for (Waiter& take : takes_) Finish(std::move(take), Outcome::kEnded, nullptr, calls);
  takes_.clear();
}

void RecordBuffer::Put(std::shared_ptr<Wait> wait, Record record, std::chrono::milliseconds timeout, Done done) {
  Calls calls;
  bool waits = false;
  const Alarm::Time deadline = In(timeout);
  {
    const std::lock_guard<std::mutex> lock(mu_);
    Waiter waiter{std::move(wait), std::move(record), deadline, timeout, std::move(done)};
    if (waiter.wait->cancelled) {
      Finish(std::move(waiter), Outcome::kCancelled, nullptr, &calls);
    } else if (stopped_) {
      records_.push_back(std::move(waiter.record));
      Finish(std::move(waiter), Outcome::kStopped, nullptr, &calls);
    } else if (ended_) {
      Finish(std::move(waiter), Outcome::kEnded, nullptr, &calls);
    } else {
      puts_.push_back(std::move(waiter));
      Settle(&calls);
      waits = !puts_.empty();
    }
  }
  if (waits) alarm_->At(deadline);
  Run(calls);
}

void RecordBuffer::Take(std::shared_ptr<Wait> wait, std::chrono::milliseconds timeout, Done done) {
  Calls calls;
  bool waits = false;
  const Alarm::Time deadline = In(timeout);
  {
    const std::lock_guard<std::mutex> lock(mu_);
    Waiter waiter{std::move(wait), nullptr, deadline, timeout, std::move(done)};
    if (waiter.wait->cancelled) {
      Finish(std::move(waiter), Outcome::kCancelled, nullptr, &calls);
    } else if (stopped_) {
      Finish(std::move(waiter), Outcome::kStopped, nullptr, &calls);
    } else {
      takes_.push_back(std::move(waiter));
      Settle(&calls);
      waits = !takes_.empty();
    }
  }
  if (waits) alarm_->At(deadline);
  Run(calls);
}

void RecordBuffer::Cancel(const std::shared_ptr<Wait>& wait) {
  Calls calls;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    wait->cancelled = true;
    for (std::list<Waiter>* waiters : {&puts_, &takes_}) {
      const auto found =
          std::find_if(waiters->begin(), waiters->end(), [&](const Waiter& waiter) { return waiter.wait == wait; });
      if (found == waiters->end()) continue;
      Finish(std::move(*found), Outcome::kCancelled, nullptr, &calls);
      waiters->erase(found);
    }
  }
  Run(calls);
}

void RecordBuffer::Stop() {
  Calls calls;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    stopped_ = true;
    filled_ = false;
    for (Waiter& put : puts_) {
      records_.push_back(std::move(put.record));
      Finish(std::move(put), Outcome::kStopped, nullptr, &calls);
    }
    for (Waiter& take : takes_) Finish(std::move(take), Outcome::kStopped, nullptr, &calls);
    puts_.clear();
    takes_.clear();
  }
  Run(calls);
}

void RecordBuffer::Resume() {
  Calls calls;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    stopped_ = false;
    filled_ = true;
    if (ended_) records_.clear();
    ended_ = false;
    ending_ = Ending();
    Settle(&calls);
  }
  Run(calls);
}

void RecordBuffer::End(Ending ending) {
  Calls calls;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    if (!ended_) {
      ended_ = true;
      ending_ = std::move(ending);
    }
    Settle(&calls);
  }
  Run(calls);
}

Alarm::Time RecordBuffer::Expire() {
  Calls calls;
  Alarm::Time next = Alarm::kNever;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    const Alarm::Time now = std::chrono::steady_clock::now();
    for (auto put = puts_.begin(); put != puts_.end();) {
      if (put->deadline > now) {
        next = std::min(next, (put++)->deadline);
        continue;
      }
      records_.push_back(std::move(put->record));
      Finish(std::move(*put), Outcome::kTimedOut, nullptr, &calls);
      put = puts_.erase(put);
    }
    for (auto take = takes_.begin(); take != takes_.end();) {
      if (filled_ && take->deadline <= now) take->deadline = now + take->timeout;
      if (take->deadline > now) {
        next = std::min(next, (take++)->deadline);
        continue;
      }
      Finish(std::move(*take), Outcome::kTimedOut, nullptr, &calls);
      take = takes_.erase(take);
    }
  }
  Run(calls);
  return next;
}

size_t RecordBuffer::size() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return records_.size();
}

RecordBuffer::Ending RecordBuffer::ending() const {
  const std::lock_guard<std::mutex> lock(mu_);
  return ending_;
}

}  // namespace stage
}  // namespace deeprec
