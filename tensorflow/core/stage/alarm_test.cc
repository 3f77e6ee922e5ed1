#include "tensorflow/core/stage/alarm.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "gtest/gtest.h"

namespace deeprec {
namespace stage {
namespace {

using std::chrono::milliseconds;

Alarm::Time In(int millis) { return std::chrono::steady_clock::now() + milliseconds(millis); }

void WaitFor(const std::atomic<int>& count, int value) {
  while (count < value) std::this_thread::sleep_for(milliseconds(1));
}

TEST(AlarmTest, RingsAtTheTime) {
  std::atomic<int> rung{0};
  Alarm alarm([&] {
    ++rung;
    return Alarm::kNever;
  });
  const Alarm::Time start = In(0);
  alarm.At(In(20));
  WaitFor(rung, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(20));
}

TEST(AlarmTest, AnEarlierTimeIsHeard) {
  std::atomic<int> rung{0};
  Alarm alarm([&] {
    ++rung;
    return Alarm::kNever;
  });
  alarm.At(In(1000000));
  alarm.At(In(5));
  WaitFor(rung, 1);
}

TEST(AlarmTest, RingsAgainWhenItIsToldSo) {
  std::atomic<int> rung{0};
  Alarm alarm([&] { return ++rung < 3 ? In(1) : Alarm::kNever; });
  alarm.At(In(1));
  WaitFor(rung, 3);
  alarm.At(In(1));
  WaitFor(rung, 4);
}

TEST(AlarmTest, EndsAtOnceWithoutARing) {
  std::atomic<int> rung{0};
  {
    Alarm alarm([&] {
      ++rung;
      return Alarm::kNever;
    });
    alarm.At(In(1000000));
  }
  { Alarm unused([] { return Alarm::kNever; }); }
  EXPECT_EQ(rung, 0);
}

TEST(AlarmTest, MayBeDestroyedByItsRing) {
  std::atomic<int> rung{0};
  // The ring may come before the pointer is set.
  std::atomic<Alarm*> alarm{nullptr};
  alarm = new Alarm([&] {
    delete alarm.load();
    ++rung;
    return Alarm::kNever;
  });
  alarm.load()->At(In(20));
  WaitFor(rung, 1);
}

}  // namespace
}  // namespace stage
}  // namespace deeprec
