#include "tensorflow/core/runtime/caller_queue.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace runtime {
namespace {

// A pool that keeps what it is given.
struct Kept {
  std::vector<CallerQueue::Closure> closures;
  std::function<void(CallerQueue::Closure)> pool() {
    return [this](CallerQueue::Closure closure) { closures.push_back(std::move(closure)); };
  }
};

// A pool that starts a thread for each closure.
class Started {
 public:
  ~Started() { Join(); }
  std::function<void(CallerQueue::Closure)> pool() {
    return [this](CallerQueue::Closure closure) {
      const std::lock_guard<std::mutex> lock(mu_);
      threads_.emplace_back(std::move(closure));
    };
  }
  void Join() {
    while (true) {
      std::vector<std::thread> threads;
      {
        const std::lock_guard<std::mutex> lock(mu_);
        threads.swap(threads_);
      }
      if (threads.empty()) return;
      for (std::thread& thread : threads) thread.join();
    }
  }

 private:
  std::mutex mu_;
  std::vector<std::thread> threads_;
};

TEST(CallerQueueTest, TheCallerRunsWhatWasPushedBefore) {
  Kept kept;
  const auto queue = std::make_shared<CallerQueue>(kept.pool(), 1);
  std::vector<int> ran;
  queue->Push([&] { ran.push_back(1); });
  queue->Push([&] {
    ran.push_back(2);
    queue->Finish();
  });
  queue->Drain(/*wide=*/false);
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
  EXPECT_TRUE(kept.closures.empty());
}

TEST(CallerQueueTest, TheCallerRunsWhatItsClosuresPush) {
  Kept kept;
  const auto queue = std::make_shared<CallerQueue>(kept.pool(), 0);
  int depth = 0;
  std::function<void()> next = [&] {
    if (++depth < 100) {
      queue->Push(next);
    } else {
      queue->Finish();
    }
  };
  queue->Push(next);
  queue->Drain(/*wide=*/true);
  EXPECT_EQ(depth, 100);
  EXPECT_TRUE(kept.closures.empty());
}

TEST(CallerQueueTest, AWideBeginningCallsAHelper) {
  Kept kept;
  const auto queue = std::make_shared<CallerQueue>(kept.pool(), 3);
  int ran = 0;
  for (int i = 0; i < 5; ++i) queue->Push([&] { ++ran; });
  queue->Finish();
  queue->Drain(/*wide=*/true);
  EXPECT_EQ(ran, 5);
  ASSERT_EQ(kept.closures.size(), 1u);
  // It comes too late, and finds nothing.
  kept.closures[0]();
  EXPECT_EQ(ran, 5);
}

TEST(CallerQueueTest, NoMoreHelpersThanAllowed) {
  Kept kept;
  const auto queue = std::make_shared<CallerQueue>(kept.pool(), 2);
  queue->Push([&] {
    for (int i = 0; i < 6; ++i) queue->Push([] {});
    queue->Finish();
  });
  queue->Drain(/*wide=*/true);
  EXPECT_EQ(kept.closures.size(), 2u);
}

TEST(CallerQueueTest, WithoutHelpersTheClosuresRunOneAfterTheOther) {
  Started started;
  const auto queue = std::make_shared<CallerQueue>(started.pool(), 0);
  std::atomic<int> running{0}, most{0}, ran{0};
  for (int i = 0; i < 20; ++i) {
    queue->Push([&] {
      most = std::max(most.load(), ++running);
      std::this_thread::yield();
      --running;
      if (++ran == 20) queue->Finish();
    });
  }
  queue->Drain(/*wide=*/true);
  EXPECT_EQ(ran, 20);
  EXPECT_EQ(most, 1);
}

TEST(CallerQueueTest, AClosureThatComesLateGoesToThePool) {
  Kept kept;
  const auto queue = std::make_shared<CallerQueue>(kept.pool(), 1);
  queue->Push([] {});
  queue->Drain(/*wide=*/false);  // returns although the execution has not ended
  int ran = 0;
  queue->Push([&] { ++ran; });
  EXPECT_EQ(ran, 0);
  ASSERT_EQ(kept.closures.size(), 1u);
  kept.closures[0]();
  EXPECT_EQ(ran, 1);
}

TEST(CallerQueueTest, AHelperTakesOverFromABusyCaller) {
  Started started;
  const auto queue = std::make_shared<CallerQueue>(started.pool(), 1);
  std::atomic<bool> helped{false};
  queue->Push([&] {
    queue->Push([&] { helped = true; });
    // Would never end if the caller alone ran closures.
    while (!helped) std::this_thread::yield();
    queue->Finish();
  });
  queue->Drain(/*wide=*/false);
  EXPECT_TRUE(helped);
}

TEST(CallerQueueTest, EveryClosureRunsOnceWhoeverRunsIt) {
  for (int round = 0; round < 100; ++round) {
    Started started;
    const auto queue = std::make_shared<CallerQueue>(started.pool(), round % 4);
    constexpr int kLeaves = 64;
    std::atomic<int> ran{0};
    // A tree: closures push from whatever thread they run on.
    std::function<void(int)> grow = [&](int node) {
      for (int child : {2 * node, 2 * node + 1}) {
        if (node < kLeaves) queue->Push([&grow, child] { grow(child); });
      }
      if (++ran == 2 * kLeaves - 1) queue->Finish();
    };
    queue->Push([&grow] { grow(1); });
    queue->Drain(/*wide=*/true);
    while (ran < 2 * kLeaves - 1) std::this_thread::yield();
    started.Join();
    EXPECT_EQ(ran, 2 * kLeaves - 1);
  }
}

}  // namespace
}  // namespace runtime
}  // namespace deeprec
