// Members of libstdc++.a call this internal function. The one in libstdc++.so is not exported and
// the member that has it also holds the handler of std::set_terminate, which must not exist twice;
// the callers pass the handler to run, so none needs to be kept here.

#include <cstdlib>

namespace __cxxabiv1 {

[[noreturn]] void __terminate(void (*handler)()) noexcept {
  handler();
  std::abort();  // The handler must not return.
}

}  // namespace __cxxabiv1
