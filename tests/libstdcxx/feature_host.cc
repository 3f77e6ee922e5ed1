// Loads the library given as argument, runs its checks and catches an exception of its.

#include <dlfcn.h>

#include <cstdio>
#include <stdexcept>
#include <thread>

int main(int, char** arguments) {
  std::thread([] {}).join();  // Keeps libpthread among the needs on systems where it is one.
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 2;
  }
  const auto run = reinterpret_cast<const char* (*)()>(dlsym(library, "run_features"));
  std::printf("FAILED [%s]\n", run());
  try {
    reinterpret_cast<void (*)()>(dlsym(library, "throw_across"))();
  } catch (const std::logic_error& error) {
    std::printf("CAUGHT %s\n", error.what());
  }
  return 0;
}
