// The closures of one execution of a graph, run by the thread that waits for it.
//
// A session hands every closure to its thread pool and then sleeps until the last one has run. On a small graph that is most
// of the time: waking a thread takes some 30 us on a virtual machine, and there are two to wake. Here the waiting thread
// runs the closures itself, and threads of the pool are called to help as soon as more than one is to be run.

#ifndef TENSORFLOW_CORE_RUNTIME_CALLER_QUEUE_H_
#define TENSORFLOW_CORE_RUNTIME_CALLER_QUEUE_H_

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace deeprec {
namespace runtime {

// Thread safe. Made by std::make_shared: helpers of the pool keep it alive.
class CallerQueue : public std::enable_shared_from_this<CallerQueue> {
 public:
  using Closure = std::function<void()>;

  // `pool` runs a closure on another thread. At most `max_helpers` of its threads run closures at a time, as long as the
  // caller is here; none: the closures run one after the other.
  CallerQueue(std::function<void(Closure)> pool, int max_helpers) : pool_(std::move(pool)), max_helpers_(max_helpers) {}

  // Takes a closure to run. Before Drain it waits for that; when Drain has returned, it goes to the pool.
  void Push(Closure closure);

  // The execution has ended: no closure will come.
  void Finish() { finished_.store(true, std::memory_order_release); }

  // Runs closures on this thread, until the execution has ended or nothing has come for some 20 us. A longer wait is the
  // session's, which knows of time limits, and a spinning thread would take a processor from the work. `wide`: whether
  // closures that are there at the beginning are worth a helper.
  void Drain(bool wide);

 private:
  void Help();
  // The next closure; null if there is none, which ends a helper.
  Closure Pop(bool helper);
  // For the caller, when there is none: waits for one a moment. False: the queue is closed.
  bool WaitForWork();
  void CallHelper();

  const std::function<void(Closure)> pool_;
  const int max_helpers_;
  std::atomic<bool> finished_{false};
  std::atomic<bool> empty_{true};
  std::mutex mu_;
  // Guarded by mu_.
  std::deque<Closure> closures_;
  bool open_ = true;       // the caller is here, or still to come
  bool draining_ = false;  // it is here
  bool idle_ = false;      // it is here, and waits for a closure
  int helpers_ = 0;
};

}  // namespace runtime
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_RUNTIME_CALLER_QUEUE_H_
