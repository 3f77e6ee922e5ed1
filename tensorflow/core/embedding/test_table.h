// What the tests of this folder share: tables of float rows, and batches in one call.

#ifndef TENSORFLOW_CORE_EMBEDDING_TEST_TABLE_H_
#define TENSORFLOW_CORE_EMBEDDING_TEST_TABLE_H_

#include <memory>
#include <utility>
#include <vector>

#include "tensorflow/core/embedding/row_optimizers.h"
#include "tensorflow/core/embedding/table.h"

namespace deeprec {
namespace embedding {

using Keys = std::vector<int64_t>;
using Floats = std::vector<float>;

inline std::shared_ptr<const DefaultRows> FloatRows(const Floats& values, int64_t dim) {
  return std::make_shared<DefaultRows>(ElementType::kFloat, values.data(), int64_t(values.size()) / dim, dim);
}

inline Floats Lookup(const Table& table, const Keys& keys, const Threads& threads = Threads()) {
  Floats out(keys.size() * table.dim(0));
  table.Lookup(keys.data(), int64_t(keys.size()), nullptr, out.data(), threads);
  return out;
}

inline Floats ReadColumn(const Table& table, int column, const Keys& keys) {
  Floats out(keys.size() * table.dim(column));
  RowReader reader;
  reader.columns.resize(column + 1);
  reader.columns[column] = out.data();
  table.Read(keys.data(), int64_t(keys.size()), reader);
  return out;
}

// One step of w -= lr * (sum of the key's gradients).
inline void DescendStep(Table* table, const Keys& keys, const Floats& grad, double lr,
                        int64_t version = kNoVersion, const int64_t* counts = nullptr,
                        const Threads& threads = Threads()) {
  TableUpdate step;
  step.keys = keys.data();
  step.counts = counts;
  step.grad = grad.data();
  step.n = int64_t(keys.size());
  step.version = version;
  sparse::Hyper hyper;
  hyper.lr = lr;
  table->Update(step,
                ElementwiseOptimizer(RowsOf(*table, {}), sparse::Rule::kGradientDescent, hyper, step.grad,
                                     sparse::BestIsa()),
                threads);
}

inline std::vector<int64_t> Frequencies(const Table& table, const Keys& keys) {
  std::vector<int64_t> out(keys.size());
  table.Frequencies(keys.data(), int64_t(keys.size()), out.data());
  return out;
}

inline std::vector<int64_t> Versions(const Table& table, const Keys& keys) {
  std::vector<int64_t> out(keys.size());
  table.Versions(keys.data(), int64_t(keys.size()), out.data());
  return out;
}

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_TEST_TABLE_H_
