// One thread that calls a function at the time it was asked to. It exists from the first request until the alarm is gone.

#ifndef TENSORFLOW_CORE_STAGE_ALARM_H_
#define TENSORFLOW_CORE_STAGE_ALARM_H_

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace deeprec {
namespace stage {

// Thread safe, but for construction and destruction.
class Alarm {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  // `ring` is called with no lock held and gives the next time to call it, kNever: when At says so. What it needs must live
  // as long as a call takes, also when the alarm is destroyed by that call.
  explicit Alarm(std::function<Time()> ring);
  // Waits for a call of `ring` on the alarm's thread, unless this is that call.
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Asks for a call at `time` or earlier.
  void At(Time time);

 private:
  struct State;
  static void Run(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace stage
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_STAGE_ALARM_H_
