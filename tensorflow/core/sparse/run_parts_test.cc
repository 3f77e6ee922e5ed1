#include "tensorflow/core/sparse/run_parts.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace sparse {
namespace {

// Runs each closure on a thread of its own.
class ThreadEach {
 public:
  ~ThreadEach() {
    for (std::thread& thread : threads_) thread.join();
  }
  void operator()(std::function<void()> closure) { threads_.emplace_back(std::move(closure)); }

 private:
  std::vector<std::thread> threads_;
};

TEST(RunPartsTest, CallsEachPartOnce) {
  ThreadEach threads;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::atomic<int>> calls(1 + round % 17);
    RunParts(int(calls.size()), round % 4, std::ref(threads), [&](int part) { ++calls[part]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(RunPartsTest, NeedsNoHelper) {
  std::vector<std::function<void()>> late;
  int calls = 0;
  RunParts(5, 3, [&](std::function<void()> closure) { late.push_back(std::move(closure)); }, [&](int) { ++calls; });
  EXPECT_EQ(calls, 5);
  // Helpers that come afterwards find nothing to do.
  for (const auto& closure : late) closure();
  EXPECT_EQ(calls, 5);
}

TEST(RunPartsTest, WaitsForASlowHelper) {
  ThreadEach threads;
  std::atomic<bool> begun{false}, ended{false};
  const std::thread::id caller = std::this_thread::get_id();
  RunParts(2, 1, std::ref(threads), [&](int) {
    if (std::this_thread::get_id() == caller) {
      while (!begun) std::this_thread::yield();
    } else {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ended = true;
    }
  });
  EXPECT_TRUE(ended);
}

TEST(RunPartsTest, AnExceptionOfAHelperReachesTheCaller) {
  ThreadEach threads;
  std::atomic<bool> thrown{false};
  const std::thread::id caller = std::this_thread::get_id();
  EXPECT_THROW(RunParts(2, 1, std::ref(threads),
                        [&](int) {
                          if (std::this_thread::get_id() == caller) {
                            while (!thrown) std::this_thread::yield();
                          } else {
                            thrown = true;
                            throw std::bad_alloc();
                          }
                        }),
               std::bad_alloc);
}

TEST(RunPartsTest, PartsAfterAnExceptionAreLeftOut) {
  int calls = 0;
  EXPECT_THROW(RunParts(5, 0, nullptr, [&](int part) {
                 ++calls;
                 if (part == 1) throw std::bad_alloc();
               }),
               std::bad_alloc);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
