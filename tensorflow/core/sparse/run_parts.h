// Running the parts of a batch on several threads.

#ifndef TENSORFLOW_CORE_SPARSE_RUN_PARTS_H_
#define TENSORFLOW_CORE_SPARSE_RUN_PARTS_H_

#include <functional>

namespace deeprec {
namespace sparse {

// Calls body(0) .. body(parts - 1), each once, and returns when all have returned.
//
// The caller works as well, and parts are taken one by one: a helper that wakes up late, or is taken off its processor, holds
// up no more than the part it is at, and a pool that is busy with other things holds up nothing. So make more parts than
// threads. Waking a sleeping thread costs some 50 us on a virtual machine, as much as thousands of rows; the caller therefore
// spins for the last parts before it sleeps.
//
// `schedule` is called `helpers` times, with a closure to run on another thread at any time, even after this returned. The
// first exception that a part throws is thrown here, after the others have ended; parts not begun by then are left out.
void RunParts(int parts, int helpers, const std::function<void(std::function<void()>)>& schedule,
              const std::function<void(int)>& body);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_RUN_PARTS_H_
