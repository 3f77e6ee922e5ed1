#include "tensorflow/core/work_queue/work_queue.h"

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace {

using Works = std::vector<std::string>;
using Outcome = WorkQueue::Outcome;

std::shared_ptr<WorkQueue::Wait> NewWait() { return std::make_shared<WorkQueue::Wait>(); }

// How takes ended, in order: the work, or "exhausted", "cancelled".
struct Log {
  Works ends;

  WorkQueue::Done done() {
    return [this](Outcome outcome, std::string work) {
      ends.push_back(outcome == Outcome::kTaken ? work : outcome == Outcome::kExhausted ? "exhausted" : "cancelled");
    };
  }
  std::string Take(WorkQueue* queue) {
    queue->Take(NewWait(), done());
    return ends.back();
  }
  std::string Lend(WorkQueue* queue, const std::string& client) {
    queue->Lend(client, NewWait(), done());
    return ends.back();
  }
};

TEST(WorkQueueTest, GivesWorksInOrderAndThenIsExhausted) {
  WorkQueue queue;
  Log log;
  EXPECT_TRUE(queue.Put({"a", "b"}));
  EXPECT_TRUE(queue.Put({"a"}));
  queue.Close();
  EXPECT_EQ(queue.size(), 3u);
  for (int i = 0; i < 5; ++i) log.Take(&queue);
  EXPECT_EQ(log.ends, (Works{"a", "b", "a", "exhausted", "exhausted"}));
}

TEST(WorkQueueTest, ClosedQueueTakesNoWorks) {
  WorkQueue queue;
  queue.Close();
  EXPECT_FALSE(queue.Put({"a"}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(WorkQueueTest, TakeOfAnOpenQueueWaits) {
  WorkQueue queue;
  Log log;
  for (int i = 0; i < 3; ++i) queue.Take(NewWait(), log.done());
  EXPECT_TRUE(log.ends.empty());
  queue.Put({"a", "b"});
  EXPECT_EQ(log.ends, (Works{"a", "b"}));
  queue.Close();
  EXPECT_EQ(log.ends, (Works{"a", "b", "exhausted"}));
}

TEST(WorkQueueTest, CancelledWaitGetsNoWork) {
  WorkQueue queue;
  Log log;
  const auto wait = NewWait(), early = NewWait();
  queue.Take(wait, log.done());
  queue.Cancel(wait);
  queue.Cancel(wait);
  queue.Cancel(early);
  queue.Put({"a"});
  queue.Take(early, log.done());
  EXPECT_EQ(log.ends, (Works{"cancelled", "cancelled"}));
  EXPECT_EQ(log.Take(&queue), "a");
}

TEST(WorkQueueTest, TakenWorksAreForgottenAndLentOnesAreNot) {
  WorkQueue queue;
  Log log;
  queue.Put({"a", "b", "c", "d"});
  log.Take(&queue);
  log.Lend(&queue, "x");
  EXPECT_EQ(queue.Unfinished(), (Works{"b", "c", "d"}));
  EXPECT_EQ(queue.size(), 2u);
  log.Lend(&queue, "y");
  queue.Settle("x", 0);
  EXPECT_EQ(queue.Unfinished(), (Works{"c", "d"}));
}

TEST(WorkQueueTest, SettlingKeepsTheNewestLoans) {
  WorkQueue queue;
  Log log;
  queue.Put({"a", "b", "c", "d"});
  for (const char* client : {"x", "y", "x", "x"}) log.Lend(&queue, client);
  queue.Settle("x", 3);
  EXPECT_EQ(queue.Unfinished(), (Works{"a", "b", "c", "d"}));
  queue.Settle("x", 1);
  EXPECT_EQ(queue.Unfinished(), (Works{"b", "d"}));
}

TEST(WorkQueueTest, ReclaimedWorksComeFirstEvenFromAClosedQueue) {
  WorkQueue queue;
  Log log;
  queue.Put({"a", "b", "c", "d"});
  queue.Close();
  for (const char* client : {"x", "y", "x"}) log.Lend(&queue, client);
  queue.Reclaim("x");
  queue.Reclaim("nobody");
  EXPECT_EQ(queue.Unfinished(), (Works{"b", "a", "c", "d"}));
  for (int i = 0; i < 4; ++i) log.Take(&queue);
  EXPECT_EQ(Works(log.ends.begin() + 3, log.ends.end()), (Works{"a", "c", "d", "exhausted"}));
}

TEST(WorkQueueTest, RestoreReplacesEverything) {
  WorkQueue queue;
  Log log;
  queue.Put({"a", "b"});
  log.Lend(&queue, "x");
  queue.Restore({"c"});
  EXPECT_EQ(queue.Unfinished(), (Works{"c"}));
  EXPECT_FALSE(queue.Put({"d"}));
  queue.Reset();
  EXPECT_TRUE(queue.Unfinished().empty());
  EXPECT_TRUE(queue.Put({"d"}));
}

TEST(WorkQueueTest, RestoreServesThoseThatWait) {
  WorkQueue queue;
  Log log;
  for (int i = 0; i < 2; ++i) queue.Take(NewWait(), log.done());
  queue.Restore({"a"});
  EXPECT_EQ(log.ends, (Works{"a", "exhausted"}));
}

// Random calls against a model of a few lines.
TEST(WorkQueueTest, RandomCallsEqualASimpleModel) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    WorkQueue queue;
    std::deque<std::string> works;
    std::vector<std::pair<std::string, std::string>> loans;
    int made = 0;
    for (int call = 0; call < 60; ++call) {
      const std::string client(1, "xyz"[random() % 3]);
      Log log;
      switch (random() % 5) {
        case 0:
          works.push_back(std::to_string(made));
          queue.Put({std::to_string(made++)});
          break;
        case 1:
        case 2:
          if (works.empty()) break;
          EXPECT_EQ(log.Lend(&queue, client), works.front());
          loans.push_back({client, works.front()});
          works.pop_front();
          break;
        case 3: {
          const size_t keep = random() % 3;
          queue.Settle(client, keep);
          size_t seen = 0;
          for (size_t i = loans.size(); i-- > 0;) {
            if (loans[i].first == client && ++seen > keep) loans.erase(loans.begin() + i);
          }
          break;
        }
        case 4:
          queue.Reclaim(client);
          for (size_t i = loans.size(); i-- > 0;) {
            if (loans[i].first != client) continue;
            works.push_front(loans[i].second);
            loans.erase(loans.begin() + i);
          }
      }
      Works expected;
      for (const auto& loan : loans) expected.push_back(loan.second);
      expected.insert(expected.end(), works.begin(), works.end());
      ASSERT_EQ(queue.Unfinished(), expected);
    }
  }
}

TEST(WorkQueueTest, ThreadsTakeEachWorkOnce) {
  WorkQueue queue;
  std::mutex mu;
  std::map<std::string, int> taken;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&queue, &mu, &taken, t] {
      for (bool more = true; more;) {
        std::promise<std::pair<Outcome, std::string>> ended;
        const auto done = [&ended](Outcome outcome, std::string work) { ended.set_value({outcome, std::move(work)}); };
        t % 2 ? queue.Take(NewWait(), done) : queue.Lend(std::to_string(t), NewWait(), done);
        const auto [outcome, work] = ended.get_future().get();
        more = outcome == Outcome::kTaken;
        std::lock_guard<std::mutex> lock(mu);
        if (more) ++taken[work];
      }
    });
  }
  for (int i = 0; i < 2000; ++i) queue.Put({std::to_string(i)});
  queue.Close();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.size(), 2000u);
  for (const auto& work : taken) EXPECT_EQ(work.second, 1);
}

}  // namespace
}  // namespace deeprec
