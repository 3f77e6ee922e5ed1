#include "tensorflow/core/graph/fused_ops.h"

#include <map>
#include <mutex>
#include <utility>

namespace deeprec {
namespace graph {
namespace {

std::mutex& Mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

std::map<std::string, std::vector<fusion::Fused>>& Kept() {
  static auto* const kept = new std::map<std::string, std::vector<fusion::Fused>>;
  return *kept;
}

}  // namespace

void KeepFused(const std::string& session, const std::vector<fusion::Fused>& fused) {
  const std::lock_guard<std::mutex> lock(Mutex());
  std::vector<fusion::Fused>& kept = Kept()[session];
  kept.insert(kept.end(), fused.begin(), fused.end());
}

std::vector<fusion::Fused> TakeFused(const std::string& session) {
  const std::lock_guard<std::mutex> lock(Mutex());
  const auto found = Kept().find(session);
  if (found == Kept().end()) return {};
  std::vector<fusion::Fused> fused = std::move(found->second);
  Kept().erase(found);
  return fused;
}

}  // namespace graph
}  // namespace deeprec
