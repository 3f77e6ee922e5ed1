// The queue of works (names of files and the like) that the workers of a training take from.
//
// First in, first out. A work is either taken, and then the queue forgets it, or lent to a client: it stays the queue's until the client
// settles it, so that what was saved meanwhile holds it, and so that a client that was killed gets it back (Reclaim).
//
// Nobody blocks in a call: a take that finds nothing is kept as a closure until there is a work, or until the queue is closed.

#ifndef TENSORFLOW_CORE_WORK_QUEUE_WORK_QUEUE_H_
#define TENSORFLOW_CORE_WORK_QUEUE_WORK_QUEUE_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deeprec {

// Thread safe.
class WorkQueue {
 public:
  enum class Outcome {
    kTaken,
    kExhausted,  // the queue is closed, and there is no work in it
    kCancelled,  // by Cancel
  };
  // Called once, with no lock held; the work is that of kTaken, and empty otherwise.
  using Done = std::function<void(Outcome, std::string work)>;
  // Names a take, so that it can be cancelled, even before it has begun.
  struct Wait {
    bool cancelled = false;  // guarded by the queue's lock
  };

  // Adds works. False: the queue is closed, and none was added.
  bool Put(std::vector<std::string> works);
  // There will be no more works: takes that find none are kExhausted from now on.
  void Close();

  // Takes the oldest work; waits while there is none and the queue is open.
  void Take(std::shared_ptr<Wait> wait, Done done);
  // Likewise, but the work is lent.
  void Lend(std::string client, std::shared_ptr<Wait> wait, Done done);
  // Ends a wait as kCancelled; nothing if it has ended.
  void Cancel(const std::shared_ptr<Wait>& wait);

  // Forgets the works lent to a client, but for the newest `keep` of them.
  void Settle(const std::string& client, size_t keep);
  // Puts the works lent to a client in front of the others, the oldest first. Also into a closed queue.
  void Reclaim(const std::string& client);

  // Makes the queue empty and open again. Loans are forgotten.
  void Reset();
  // Makes `works` those of the queue, and closes it. Loans are forgotten.
  void Restore(std::vector<std::string> works);

  // All that is not finished: the works that are lent, in the order of lending, and then those that wait.
  std::vector<std::string> Unfinished() const;
  // The works that wait.
  size_t size() const;

 private:
  struct Taker {
    std::shared_ptr<Wait> wait;
    bool lend;
    std::string client;
    Done done;
  };
  struct Loan {
    std::string client;
    std::string work;
  };
  // Closures to run when the lock has been given back.
  using Calls = std::vector<std::function<void()>>;

  static void Run(const Calls& calls);
  void Add(Taker taker);
  // Serves waiting takers as far as there are works, or all of them if the queue is closed.
  void Serve(Calls* calls);

  mutable std::mutex mu_;
  // Guarded by mu_.
  std::deque<std::string> works_;
  std::deque<Loan> loans_;  // in the order of lending; a few for each client
  std::list<Taker> takers_;  // only while the queue is open and empty
  bool closed_ = false;
};

}  // namespace deeprec

#endif  // TENSORFLOW_CORE_WORK_QUEUE_WORK_QUEUE_H_
