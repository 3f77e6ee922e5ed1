// What a failed check of -D_GLIBCXX_ASSERTIONS calls since GLIBCXX_3.4.30. The member of
// libstdc++.a that has it also holds the lock pool of the debug mode's iterators.

#include <cstdio>
#include <cstdlib>

namespace std {

[[noreturn]] void __glibcxx_assert_fail(const char* file, int line, const char* function,
                                        const char* condition) noexcept {
  if (file != nullptr && function != nullptr && condition != nullptr) {
    std::fprintf(stderr, "%s:%d: %s: Assertion '%s' failed.\n", file, line, function, condition);
  }
  std::abort();
}

}  // namespace std
