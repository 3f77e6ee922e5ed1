#include "tensorflow/core/stage/record_buffer.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace stage {
namespace {

using std::chrono::milliseconds;
using Outcome = RecordBuffer::Outcome;

constexpr milliseconds kLong(1000000);

RecordBuffer::Record Value(int value) { return std::make_shared<int>(value); }
std::shared_ptr<RecordBuffer::Wait> NewWait() { return std::make_shared<RecordBuffer::Wait>(); }

// How a put or a take ended; nothing yet: `over` is false.
struct End {
  std::shared_ptr<RecordBuffer::Wait> wait = NewWait();
  std::atomic<bool> over{false};
  Outcome outcome = Outcome::kDone;
  int value = -1;

  RecordBuffer::Done done() {
    return [this](Outcome outcome, RecordBuffer::Record record) {
      EXPECT_FALSE(over);
      this->outcome = outcome;
      if (record != nullptr) value = *static_cast<const int*>(record.get());
      over = true;
    };
  }
  void Await() const {
    while (!over) std::this_thread::sleep_for(milliseconds(1));
  }
};

void Put(RecordBuffer& buffer, int value, End& end, milliseconds timeout = kLong) {
  buffer.Put(end.wait, Value(value), timeout, end.done());
}
void Take(RecordBuffer& buffer, End& end, milliseconds timeout = kLong) { buffer.Take(end.wait, timeout, end.done()); }

TEST(RecordBufferTest, KeepsTheOrderAndTheCapacity) {
  const auto buffer = RecordBuffer::Create(2);
  End puts[4], takes[4];
  for (int i = 0; i < 4; ++i) Put(*buffer, i, puts[i]);
  EXPECT_TRUE(puts[1].over);
  EXPECT_FALSE(puts[2].over);
  EXPECT_EQ(buffer->size(), 2u);
  for (int i = 0; i < 4; ++i) {
    Take(*buffer, takes[i]);
    ASSERT_TRUE(takes[i].over);
    EXPECT_EQ(takes[i].value, i);
  }
  for (const End& put : puts) EXPECT_EQ(put.outcome, Outcome::kDone);
}

TEST(RecordBufferTest, TakesThatWaitAreServedInOrder) {
  const auto buffer = RecordBuffer::Create(1);
  End takes[2], puts[2];
  for (End& take : takes) Take(*buffer, take);
  for (int i = 0; i < 2; ++i) Put(*buffer, i, puts[i]);
  EXPECT_EQ(takes[0].value, 0);
  EXPECT_EQ(takes[1].value, 1);
  EXPECT_EQ(buffer->size(), 0u);
}

TEST(RecordBufferTest, TakesGetWhatIsThereBeforeTheEnd) {
  const auto buffer = RecordBuffer::Create(1);
  End first, waiting, late, takes[3];
  Put(*buffer, 0, first);
  Put(*buffer, 1, waiting);
  buffer->End({7, "over"});
  buffer->End({8, "again"});
  Put(*buffer, 2, late);
  EXPECT_EQ(late.outcome, Outcome::kEnded);
  for (End& take : takes) Take(*buffer, take);
  EXPECT_EQ(takes[0].value, 0);
  EXPECT_EQ(takes[1].value, 1);
  EXPECT_EQ(takes[2].outcome, Outcome::kEnded);
  EXPECT_EQ(buffer->ending().code, 7);
  EXPECT_EQ(buffer->ending().message, "over");
}

TEST(RecordBufferTest, TheEndReachesTakesThatWait) {
  const auto buffer = RecordBuffer::Create(1);
  End takes[2];
  for (End& take : takes) Take(*buffer, take);
  buffer->End({});
  for (End& take : takes) EXPECT_EQ(take.outcome, Outcome::kEnded);
}

TEST(RecordBufferTest, CancelEndsOneWait) {
  const auto buffer = RecordBuffer::Create(1);
  End first, cancelled, third, take;
  Put(*buffer, 0, first);
  Put(*buffer, 1, cancelled);
  Put(*buffer, 2, third);
  buffer->Cancel(cancelled.wait);
  EXPECT_EQ(cancelled.outcome, Outcome::kCancelled);
  Take(*buffer, take);
  EXPECT_TRUE(third.over);
  // Over already: nothing.
  buffer->Cancel(first.wait);
  End next;
  Take(*buffer, next);
  EXPECT_EQ(next.value, 2);
}

TEST(RecordBufferTest, CancelMayComeFirst) {
  const auto buffer = RecordBuffer::Create(1);
  End put, take;
  buffer->Cancel(put.wait);
  buffer->Cancel(take.wait);
  Put(*buffer, 0, put);
  EXPECT_EQ(put.outcome, Outcome::kCancelled);
  EXPECT_EQ(buffer->size(), 0u);
  Take(*buffer, take);
  EXPECT_EQ(take.outcome, Outcome::kCancelled);
}

TEST(RecordBufferTest, StopEndsTheWaitsAndLosesNothing) {
  const auto buffer = RecordBuffer::Create(1);
  End first, waiting, late, refused;
  Put(*buffer, 0, first);
  Put(*buffer, 1, waiting);
  buffer->Stop();
  EXPECT_EQ(waiting.outcome, Outcome::kStopped);
  Put(*buffer, 2, late);
  EXPECT_EQ(late.outcome, Outcome::kStopped);
  Take(*buffer, refused);
  EXPECT_EQ(refused.outcome, Outcome::kStopped);
  buffer->Resume();
  for (int i = 0; i < 3; ++i) {
    End take;
    Take(*buffer, take);
    EXPECT_EQ(take.value, i);
  }
  End take;
  Take(*buffer, take);
  EXPECT_FALSE(take.over);
  buffer->Stop();
  EXPECT_EQ(take.outcome, Outcome::kStopped);
}

TEST(RecordBufferTest, ResumeAfterTheEndBeginsAnew) {
  const auto buffer = RecordBuffer::Create(2);
  End old, put, take;
  Put(*buffer, 0, old);
  buffer->End({7, "over"});
  buffer->Resume();
  EXPECT_EQ(buffer->size(), 0u);
  Put(*buffer, 1, put);
  Take(*buffer, take);
  EXPECT_EQ(take.value, 1);
  EXPECT_EQ(buffer->ending().code, 0);
}

TEST(RecordBufferTest, APutThatTimesOutKeepsItsPlace) {
  const auto buffer = RecordBuffer::Create(1);
  End first, second, third;
  Put(*buffer, 0, first);
  Put(*buffer, 1, second, milliseconds(5));
  Put(*buffer, 2, third);
  second.Await();
  EXPECT_EQ(second.outcome, Outcome::kTimedOut);
  EXPECT_EQ(buffer->size(), 2u);
  for (int i = 0; i < 3; ++i) {
    End take;
    Take(*buffer, take);
    EXPECT_EQ(take.value, i);
  }
}

TEST(RecordBufferTest, ATakeTimesOutOnlyWhileNobodyFills) {
  const auto buffer = RecordBuffer::Create(1);
  End alone;
  Take(*buffer, alone, milliseconds(5));
  alone.Await();
  EXPECT_EQ(alone.outcome, Outcome::kTimedOut);
  buffer->Resume();
  End patient, put;
  Take(*buffer, patient, milliseconds(2));
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(patient.over);
  Put(*buffer, 3, put);
  EXPECT_EQ(patient.value, 3);
}

TEST(RecordBufferTest, ADoneMayDropTheLastReference) {
  auto buffer = RecordBuffer::Create(1);
  std::atomic<bool> over{false};
  RecordBuffer* const raw = buffer.get();
  raw->Take(NewWait(), milliseconds(5), [buffer = std::move(buffer), &over](Outcome, RecordBuffer::Record) { over = true; });
  // The alarm's thread drops it.
  while (!over) std::this_thread::sleep_for(milliseconds(1));
}

TEST(RecordBufferTest, EveryRecordIsReadOnceByManyThreads) {
  constexpr int kThreads = 4, kRecords = 2000;
  const auto buffer = RecordBuffer::Create(3);
  std::mutex mu;
  std::vector<int> seen(kThreads * kRecords);
  std::vector<std::thread> putters, takers;
  for (int t = 0; t < kThreads; ++t) {
    putters.emplace_back([&, t] {
      for (int i = 0; i < kRecords; ++i) {
        End end;
        // Some are cancelled; they count as read if they got in nevertheless.
        Put(*buffer, t * kRecords + i, end);
        if (i % 7 == 0) {
          buffer->Cancel(end.wait);
          end.Await();
          if (end.outcome == Outcome::kCancelled) {
            const std::lock_guard<std::mutex> lock(mu);
            ++seen[t * kRecords + i];
          }
        }
        end.Await();
      }
    });
    takers.emplace_back([&] {
      while (true) {
        End end;
        Take(*buffer, end);
        end.Await();
        if (end.outcome == Outcome::kEnded) return;
        const std::lock_guard<std::mutex> lock(mu);
        ++seen[end.value];
      }
    });
  }
  for (std::thread& thread : putters) thread.join();
  buffer->End({});
  for (std::thread& thread : takers) thread.join();
  EXPECT_EQ(seen, std::vector<int>(kThreads * kRecords, 1));
}

}  // namespace
}  // namespace stage
}  // namespace deeprec
