#include "tensorflow/core/work_queue/work_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace deeprec {

void WorkQueue::Run(const Calls& calls) {
  for (const auto& call : calls) call();
}

void WorkQueue::Serve(Calls* calls) {
  const auto call = [calls](Taker taker, Outcome outcome, std::string work) {
    calls->push_back([done = std::move(taker.done), outcome, work = std::move(work)] { done(outcome, work); });
  };
  while (!takers_.empty() && (!works_.empty() || closed_)) {
    Taker taker = std::move(takers_.front());
    takers_.pop_front();
    if (works_.empty()) {
      call(std::move(taker), Outcome::kExhausted, "");
      continue;
    }
    std::string work = std::move(works_.front());
    works_.pop_front();
    if (taker.lend) loans_.push_back({taker.client, work});
    call(std::move(taker), Outcome::kTaken, std::move(work));
  }
}

bool WorkQueue::Put(std::vector<std::string> works) {
  Calls calls;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (closed_) return false;
    works_.insert(works_.end(), std::make_move_iterator(works.begin()), std::make_move_iterator(works.end()));
    Serve(&calls);
  }
  Run(calls);
  return true;
}

void WorkQueue::Close() {
  Calls calls;
  {
    std::lock_guard<std::mutex> lock(mu_);
    closed_ = true;
    Serve(&calls);
  }
  Run(calls);
}

void WorkQueue::Add(Taker taker) {
  Calls calls;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (taker.wait->cancelled) {
      calls.push_back([done = std::move(taker.done)] { done(Outcome::kCancelled, ""); });
    } else {
      takers_.push_back(std::move(taker));
      Serve(&calls);
    }
  }
  Run(calls);
}

void WorkQueue::Take(std::shared_ptr<Wait> wait, Done done) { Add({std::move(wait), false, "", std::move(done)}); }

void WorkQueue::Lend(std::string client, std::shared_ptr<Wait> wait, Done done) {
  Add({std::move(wait), true, std::move(client), std::move(done)});
}

void WorkQueue::Cancel(const std::shared_ptr<Wait>& wait) {
  Done done;
  {
    std::lock_guard<std::mutex> lock(mu_);
    wait->cancelled = true;
    const auto found =
        std::find_if(takers_.begin(), takers_.end(), [&wait](const Taker& taker) { return taker.wait == wait; });
    if (found == takers_.end()) return;
    done = std::move(found->done);
    takers_.erase(found);
  }
  done(Outcome::kCancelled, "");
}

void WorkQueue::Settle(const std::string& client, size_t keep) {
  std::lock_guard<std::mutex> lock(mu_);
  const auto of_client = [&client](const Loan& loan) { return loan.client == client; };
  size_t settled = std::count_if(loans_.begin(), loans_.end(), of_client);
  settled -= std::min(settled, keep);
  loans_.erase(std::remove_if(loans_.begin(), loans_.end(),
                              [&](const Loan& loan) { return of_client(loan) && settled > 0 && settled-- > 0; }),
               loans_.end());
}

void WorkQueue::Reclaim(const std::string& client) {
  Calls calls;
  {
    std::lock_guard<std::mutex> lock(mu_);
    const auto own = std::stable_partition(loans_.begin(), loans_.end(),
                                           [&client](const Loan& loan) { return loan.client != client; });
    for (auto loan = loans_.end(); loan != own;) works_.push_front(std::move((--loan)->work));
    loans_.erase(own, loans_.end());
    Serve(&calls);
  }
  Run(calls);
}

void WorkQueue::Reset() {
  std::lock_guard<std::mutex> lock(mu_);
  works_.clear();
  loans_.clear();
  closed_ = false;
}

void WorkQueue::Restore(std::vector<std::string> works) {
  Calls calls;
  {
    std::lock_guard<std::mutex> lock(mu_);
    works_.assign(std::make_move_iterator(works.begin()), std::make_move_iterator(works.end()));
    loans_.clear();
    closed_ = true;
    Serve(&calls);
  }
  Run(calls);
}

std::vector<std::string> WorkQueue::Unfinished() const {
  std::lock_guard<std::mutex> lock(mu_);
  std::vector<std::string> all;
  all.reserve(loans_.size() + works_.size());
  for (const Loan& loan : loans_) all.push_back(loan.work);
  all.insert(all.end(), works_.begin(), works_.end());
  return all;
}

size_t WorkQueue::size() const {
  std::lock_guard<std::mutex> lock(mu_);
  return works_.size();
}

}  // namespace deeprec
