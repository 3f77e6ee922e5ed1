// What the benchmarks share.

#ifndef TENSORFLOW_CORE_SPARSE_BENCH_UTIL_H_
#define TENSORFLOW_CORE_SPARSE_BENCH_UTIL_H_

#include <stdint.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace deeprec {
namespace sparse {

// Worker threads that spin between steps, so that wake-up time stays out of the figures.
class SpinPool {
 public:
  explicit SpinPool(int threads) {
    for (int i = 1; i < threads; ++i) {
      workers_.emplace_back([this] {
        int seen = 0;
        while (true) {
          while (generation_.load(std::memory_order_acquire) == seen) {
            if (stop_.load(std::memory_order_relaxed)) return;
          }
          ++seen;
          Work();
          finished_.fetch_add(1, std::memory_order_release);
        }
      });
    }
  }
  ~SpinPool() {
    stop_.store(true);
    for (std::thread& worker : workers_) worker.join();
  }
  void Run(int n, const std::function<void(int)>& body) {
    body_ = &body;
    n_ = n;
    next_.store(0);
    finished_.store(0);
    generation_.fetch_add(1, std::memory_order_release);
    Work();
    while (finished_.load(std::memory_order_acquire) != int(workers_.size())) {
    }
  }

 private:
  void Work() {
    for (int i; (i = next_.fetch_add(1)) < n_;) (*body_)(i);
  }
  std::vector<std::thread> workers_;
  const std::function<void(int)>* body_ = nullptr;
  int n_ = 0;
  std::atomic<int> next_{0}, generation_{0}, finished_{0};
  std::atomic<bool> stop_{false};
};

// Median of `repeats` runs, after three to warm up.
inline double MedianSeconds(int repeats, const std::function<void()>& body) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats + 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (i >= 3) seconds.push_back(elapsed.count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

// n draws of rows: the row of rank r with probability proportional to r^-exponent.
inline std::vector<int64_t> ZipfIndices(int64_t n, int64_t rows, double exponent, int seed) {
  std::vector<double> cumulative(rows);
  double sum = 0;
  for (int64_t i = 0; i < rows; ++i) cumulative[i] = sum += std::pow(double(i + 1), -exponent);
  std::vector<int64_t> row_of_rank(rows);
  for (int64_t i = 0; i < rows; ++i) row_of_rank[i] = i;
  std::mt19937_64 random(seed);
  std::shuffle(row_of_rank.begin(), row_of_rank.end(), random);
  std::uniform_real_distribution<double> uniform(0, sum);
  std::vector<int64_t> indices(n);
  for (int64_t& index : indices) {
    const auto rank = std::lower_bound(cumulative.begin(), cumulative.end(), uniform(random));
    index = row_of_rank[rank - cumulative.begin()];
  }
  return indices;
}

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_BENCH_UTIL_H_
