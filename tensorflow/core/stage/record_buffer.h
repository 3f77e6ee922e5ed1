// The buffer between the threads that prefetch records and those that use them.
//
// First in, first out, of bounded size. Nobody blocks in a call: what has to wait is kept as a closure, and the call that ends
// the wait runs it. A wait ends when it is served, when its run is cancelled, when the buffer is stopped or has ended,
// or when its time is up.
//
// No record is lost. A put whose time is up, or that is waiting when the buffer is stopped, has used up its input already;
// its record goes into the buffer beyond the capacity, and the caller, who is told, puts the next one when there is room again.

#ifndef TENSORFLOW_CORE_STAGE_RECORD_BUFFER_H_
#define TENSORFLOW_CORE_STAGE_RECORD_BUFFER_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tensorflow/core/stage/alarm.h"

namespace deeprec {
namespace stage {

// Thread safe. Made by Create: whoever has a call running keeps it alive.
class RecordBuffer : public std::enable_shared_from_this<RecordBuffer> {
 public:
  using Record = std::shared_ptr<const void>;
  enum class Outcome {
    kDone,
    kCancelled,  // by Cancel
    kStopped,    // by Stop
    kEnded,      // by End; see `ending`
    kTimedOut,
  };
  // Called once, with no lock held; the record is that of a take that is done, and null otherwise.
  using Done = std::function<void(Outcome, Record)>;
  // Names a put or a take, so that it can be cancelled, even before it has begun.
  struct Wait {
    bool cancelled = false;  // guarded by the buffer's lock
  };
  // Why there will be no more records.
  struct Ending {
    int code = 0;
    std::string message;
  };

  // `capacity` > 0.
  static std::shared_ptr<RecordBuffer> Create(size_t capacity);

  // Adds a record; waits while the buffer is full, for `timeout` at most.
  void Put(std::shared_ptr<Wait> wait, Record record, std::chrono::milliseconds timeout, Done done);
  // Takes the oldest record; waits while there is none. `timeout` counts only while nobody is known to fill the buffer, that
  // is before Resume and after Stop: how long an input takes is nobody's fault.
  void Take(std::shared_ptr<Wait> wait, std::chrono::milliseconds timeout, Done done);
  // Ends a wait as kCancelled; nothing if it has ended. The record of a put is dropped: its run did not happen.
  void Cancel(const std::shared_ptr<Wait>& wait);

  // Ends every wait, and every put and take from now on, as kStopped.
  void Stop();
  // Undoes Stop and End: somebody begins to fill the buffer. The records of a stopped buffer stay, those of an ended one go.
  void Resume();
  // No put is accepted any more; those that wait still get in. Takes get what is there, then kEnded. The first call counts.
  void End(Ending ending);

  size_t size() const;
  size_t capacity() const { return capacity_; }
  Ending ending() const;

 private:
  struct Waiter {
    std::shared_ptr<Wait> wait;
    Record record;
    Alarm::Time deadline;
    std::chrono::milliseconds timeout;
    Done done;
  };
  // Closures to run when the lock has been given back.
  using Calls = std::vector<std::function<void()>>;

  explicit RecordBuffer(size_t capacity) : capacity_(capacity) {}

  static void Run(const Calls& calls);
  static void Finish(Waiter waiter, Outcome outcome, Record record, Calls* calls);
  // Lets waiting puts in and serves waiting takes, as far as there is room and there are records.
  void Settle(Calls* calls);
  Alarm::Time Expire();

  const size_t capacity_;
  mutable std::mutex mu_;
  // Guarded by mu_.
  std::deque<Record> records_;
  std::list<Waiter> puts_;   // only while the buffer is full
  std::list<Waiter> takes_;  // only while it is empty
  bool stopped_ = false;
  bool filled_ = false;  // by somebody who called Resume
  bool ended_ = false;
  Ending ending_;
  // Last: its thread uses the rest. Locks nothing while mu_ is taken by a call of ours.
  std::unique_ptr<Alarm> alarm_;
};

}  // namespace stage
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_STAGE_RECORD_BUFFER_H_
