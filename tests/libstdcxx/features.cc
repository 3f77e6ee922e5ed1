// Uses what newer compilers draw from newer libstdc++ and glibc versions, and checks the results.
// Built as a shared library; run_features() returns the failures, one name a line.

#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <locale>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <random>
#include <regex>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

volatile double one = 1.0;  // Keeps the compiler from computing the mathematics itself.

bool ConditionVariableWakes() {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  std::thread thread([&] {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
    condition.notify_all();
  });
  std::unique_lock<std::mutex> lock(mutex);
  condition.wait(lock, [&] { return ready; });
  lock.unlock();
  thread.join();
  return ready;
}

bool ConditionVariableTimesOut() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> lock(mutex);
  const auto start = Clock::now();
  while (condition.wait_for(lock, milliseconds(30)) != std::cv_status::timeout) {
  }
  return Clock::now() - start >= milliseconds(30);
}

bool TimedLocksTimeOut() {
  std::timed_mutex mutex;
  std::shared_timed_mutex shared;
  std::lock_guard<std::timed_mutex> hold(mutex);
  std::lock_guard<std::shared_timed_mutex> hold_shared(shared);
  bool timed_out = false;
  std::thread thread([&] {
    const auto start = Clock::now();
    timed_out = !mutex.try_lock_for(milliseconds(20)) &&
                !shared.try_lock_for(milliseconds(20)) &&
                !shared.try_lock_shared_for(milliseconds(20)) &&
                Clock::now() - start >= milliseconds(60);
  });
  thread.join();
  return timed_out;
}

bool SemaphoreTimesOut() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_nsec += 20 * 1000 * 1000;
  if (deadline.tv_nsec >= 1000000000) {
    deadline.tv_nsec -= 1000000000;
    deadline.tv_sec += 1;
  }
  const bool timed_out =
      sem_clockwait(&semaphore, CLOCK_MONOTONIC, &deadline) == -1 && errno == ETIMEDOUT;
  sem_destroy(&semaphore);
  return timed_out;
}

bool FutureCarriesValue() { return std::async(std::launch::async, [] { return 41; }).get() == 41; }

bool FutureCarriesException() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread thread([&] {
    promise.set_exception(std::make_exception_ptr(std::runtime_error("carried")));
  });
  thread.join();
  if (future.wait_for(std::chrono::seconds(2)) != std::future_status::ready) return false;
  try {
    future.get();
  } catch (const std::runtime_error& error) {
    return std::string(error.what()) == "carried";
  }
  return false;
}

bool CallOnceRunsOnceAndPassesExceptions() {
  std::once_flag flag, throwing;
  int calls = 0;
  for (int i = 0; i < 3; ++i) std::call_once(flag, [&] { ++calls; });
  try {
    std::call_once(throwing, [] { throw 5; });
  } catch (int value) {
    return calls == 1 && value == 5;
  }
  return false;
}

bool ThreadLocalsAreSeparate() {
  thread_local std::string text = "main";
  std::thread thread([] { text += " changed"; });
  thread.join();
  return text == "main";
}

bool FilesAreFound() {
  const fs::path root = fs::temp_directory_path() / ("features_" + std::to_string(getpid()));
  fs::create_directories(root / "a" / "b");
  const fs::path file = root / "a" / "b" / "c.txt";
  std::ofstream(file) << "hi" << 3.5;
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    files += entry.is_regular_file();
  }
  struct stat by_path, by_link, by_descriptor, by_folder;
  const int fd = open(file.c_str(), O_RDONLY);
  const bool stats = stat(file.c_str(), &by_path) == 0 && lstat(file.c_str(), &by_link) == 0 &&
                     fstat(fd, &by_descriptor) == 0 &&
                     fstatat(AT_FDCWD, file.c_str(), &by_folder, 0) == 0 && by_path.st_size == 5 &&
                     by_link.st_ino == by_path.st_ino && by_descriptor.st_ino == by_path.st_ino &&
                     by_folder.st_ino == by_path.st_ino;
  const bool flags = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
  close(fd);
  fs::rename(root / "a", root / "z");
  const bool size = fs::file_size(root / "z" / "b" / "c.txt") == 5;
  fs::remove_all(root);
  return files == 1 && stats && flags && size && !fs::exists(root);
}

bool MissingFilesAreErrors() {
  struct stat unused;
  errno = 0;
  if (stat("/no/such/file", &unused) != -1 || errno != ENOENT) return false;
  try {
    return fs::file_size("/no/such/file") == 0;
  } catch (const fs::filesystem_error& error) {
    return error.code() == std::errc::no_such_file_or_directory && error.path1() == "/no/such/file";
  }
}

bool NumbersAreParsedAndPrinted() {
  const std::string text = "3.25e2";
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  char buffer[64];
  const auto printed = std::to_chars(buffer, buffer + sizeof buffer, 0.1);
  return parsed.ec == std::errc() && value == 325 && std::string(buffer, printed.ptr) == "0.1" &&
         std::strtol("-12", nullptr, 10) == -12;
}

bool MathematicsIsRight() {
  const float onef = static_cast<float>(one);
  return std::abs(std::exp(one) - 2.718281828459045) < 1e-15 && std::pow(2.0 * one, 10.0) == 1024 &&
         std::abs(std::log(2.0 * one) - 0.6931471805599453) < 1e-15 && powf(2 * onef, 3) == 8 &&
         std::abs(expf(onef) - 2.7182817f) < 1e-6f && std::abs(logf(2 * onef) - 0.6931472f) < 1e-7f;
}

bool BadArrayLengthThrows() {
  volatile long length = -1;
  try {
    delete[] new int[length];
  } catch (const std::bad_array_new_length&) {
    return true;
  }
  return false;
}

bool RangeErrorsThrow() {
  try {
    return std::vector<int>().at(3) == 0;
  } catch (const std::out_of_range& error) {
    return std::string(error.what()).find("3") != std::string::npos;
  }
}

bool RandomDeviceVaries() {
  std::random_device device;
  const auto first = device();
  return device() != first || device() != first;
}

bool RegexMatches() {
  std::smatch match;
  const std::string text = "12-ab";
  return std::regex_match(text, match, std::regex("(\\d+)-(\\w+)")) && match[2] == "ab";
}

bool StreamsFormat() {
  std::stringstream stream;
  stream.imbue(std::locale("C"));
  stream << std::hex << 255 << ' ' << std::dec << 1234567 << ' ' << 0.5;
  std::string first, second;
  double third = 0;
  stream >> first >> second >> third;
  return first == "ff" && second == "1234567" && third == 0.5;
}

bool ContainersHold() {
  std::unordered_map<std::string, int> map;
  for (int i = 0; i < 1000; ++i) map[std::to_string(i)] = i;
  std::string text = "llo";
  text.insert(text.begin(), {'h', 'e'});
  std::pmr::monotonic_buffer_resource resource;
  std::pmr::vector<int> vector(&resource);
  vector.resize(1000, 4);
  auto shared = std::make_shared<int>(3);
  std::weak_ptr<int> weak = shared;
  return map.size() == 1000 && map["77"] == 77 && text == "hello" && vector[999] == 4 &&
         *weak.lock() == 3;
}

bool SymbolsAreFound() { return dlsym(RTLD_DEFAULT, "malloc") != nullptr; }

}  // namespace

EXPORT const char* run_features() {
  static std::string failures;
  failures.clear();
#define CHECK_FEATURE(name) \
  if (!name()) failures += #name "\n"
  CHECK_FEATURE(ConditionVariableWakes);
  CHECK_FEATURE(ConditionVariableTimesOut);
  CHECK_FEATURE(TimedLocksTimeOut);
  CHECK_FEATURE(SemaphoreTimesOut);
  CHECK_FEATURE(FutureCarriesValue);
  CHECK_FEATURE(FutureCarriesException);
  CHECK_FEATURE(CallOnceRunsOnceAndPassesExceptions);
  CHECK_FEATURE(ThreadLocalsAreSeparate);
  CHECK_FEATURE(FilesAreFound);
  CHECK_FEATURE(MissingFilesAreErrors);
  CHECK_FEATURE(NumbersAreParsedAndPrinted);
  CHECK_FEATURE(MathematicsIsRight);
  CHECK_FEATURE(BadArrayLengthThrows);
  CHECK_FEATURE(RangeErrorsThrow);
  CHECK_FEATURE(RandomDeviceVaries);
  CHECK_FEATURE(RegexMatches);
  CHECK_FEATURE(StreamsFormat);
  CHECK_FEATURE(ContainersHold);
  CHECK_FEATURE(SymbolsAreFound);
#undef CHECK_FEATURE
  return failures.c_str();
}

// For a caller in another library: the exception must arrive with its type.
EXPORT void throw_across() { throw std::out_of_range("thrown across"); }
