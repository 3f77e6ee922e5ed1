// A table of several tiers has the content of one that has all rows in memory, whatever is done.

#include <algorithm>
#include <memory>
#include <random>

#include "tensorflow/core/embedding/test_tiers.h"

namespace deeprec {
namespace embedding {
namespace {

// The same steps on tables of one, two and three tiers.
class Twins {
 public:
  Twins(TableOptions options, const TestFolder& folder, int64_t rows, int64_t dim) {
    const auto make = [&] {
      Floats defaults(7 * dim);
      for (size_t i = 0; i < defaults.size(); ++i) defaults[i] = 0.25f * float(i);
      tables_.emplace_back(new Table(options, FloatRows(defaults, dim)));
    };
    make();
    options.tiers.folder = folder.path();
    options.tiers.first_bytes = rows * BudgetBytes(4 * dim);
    options.tiers.segment_bytes = 1 << 12;
    for (const CacheStrategy strategy : {CacheStrategy::kLfu, CacheStrategy::kLru}) {
      options.tiers.strategy = strategy;
      options.tiers.lower = {LowerTierOptions{}};
      make();
      options.tiers.lower = {LowerTierOptions{StorageMedium::kMemory, 2 * rows * 16}, LowerTierOptions{}};
      make();
    }
  }
  template <class Do>
  void Each(const Do& act) {
    for (const auto& table : tables_) act(table.get());
  }
  int columns() const { return tables_[0]->columns(); }
  void Compare() {
    const Snapshot expected = tables_[0]->TakeSnapshot(10);
    Keys some = expected.keys;
    for (const WaitingEntry& entry : expected.waiting) some.push_back(entry.key);
    some.push_back(123456);
    for (size_t t = 1; t < tables_.size(); ++t) {
      const Snapshot snapshot = tables_[t]->TakeSnapshot(10);
      ASSERT_EQ(snapshot.keys, expected.keys) << "table " << t;
      ASSERT_EQ(snapshot.begin, expected.begin);
      ASSERT_EQ(snapshot.waiting_begin, expected.waiting_begin);
      ASSERT_EQ(tables_[t]->size(), tables_[0]->size());
      ASSERT_EQ(Frequencies(*tables_[t], some), Frequencies(*tables_[0], some));
      ASSERT_EQ(Versions(*tables_[t], some), Versions(*tables_[0], some));
      for (int c = 0; c < tables_[0]->columns(); ++c) {
        ASSERT_EQ(ReadColumn(*tables_[t], c, some), ReadColumn(*tables_[0], c, some)) << "table " << t << " column " << c;
      }
    }
  }

 private:
  std::vector<std::unique_ptr<Table>> tables_;
};

void MomentumStep(Table* table, const Keys& keys, const Floats& grad, const std::vector<int64_t>& counts, int64_t version) {
  TableUpdate step;
  step.keys = keys.data();
  step.counts = counts.data();
  step.grad = grad.data();
  step.n = int64_t(keys.size());
  step.version = version;
  sparse::Hyper hyper;
  hyper.lr = 0.1;
  hyper.momentum = 0.9;
  table->Update(step, ElementwiseOptimizer(RowsOf(*table, {1}), sparse::Rule::kMomentum, hyper, grad.data(),
                                           sparse::Isa::kScalar),
                Threads());
}

TEST(Tiers, WhateverIsDoneTheContentIsThatOfOneTier) {
  for (const int64_t min_count : {0, 3}) {
    TestFolder folder;
    TableOptions options;
    options.record_frequency = options.record_version = true;
    if (min_count > 0) options.admission = AdmissionKind::kCounter, options.min_count = min_count;
    constexpr int64_t kDim = 5, kRows = 120;
    Twins twins(options, folder, kRows, kDim);
    twins.Each([&](Table* table) { table->AddColumn(FloatRows(Floats(kDim, 0.5f), kDim)); });
    std::mt19937_64 random(min_count);
    const auto some_keys = [&](int64_t n) {
      Keys keys(n);
      for (int64_t& key : keys) key = int64_t(std::min(random() % 800, random() % 800)) - 300;
      return keys;
    };
    for (int step = 0; step < 400; ++step) {
      switch (random() % 16) {
        default: {
          const Keys keys = some_keys(30);
          Floats grad(30 * kDim);
          std::vector<int64_t> counts(30);
          for (float& x : grad) x = float(random() % 100) / 50 - 1;
          for (int64_t& count : counts) count = int64_t(random() % 3);
          const int64_t version = random() % 4 == 0 ? kNoVersion : step;
          twins.Each([&](Table* table) { MomentumStep(table, keys, grad, counts, version); });
          break;
        }
        case 0: {
          const Keys keys = some_keys(30);
          twins.Each([&](Table* table) { Lookup(*table, keys); });
          break;
        }
        case 1: {
          const Keys keys = some_keys(20);
          const Floats initial(20 * kDim, float(step));
          twins.Each([&](Table* table) {
            Floats out(20 * kDim);
            table->LookupOrInsert(keys.data(), 20, initial.data(), step, out.data(), Threads());
          });
          break;
        }
        case 2: twins.Each([&](Table* table) { table->EvictOlderThan(60, step); }); break;
        case 3: twins.Each([&](Table* table) { table->EvictSmallerThan(0.2); }); break;
        case 4: {
          const Keys keys = some_keys(200);
          const Floats rows(200 * 3, float(step));
          const std::vector<int64_t> numbers(200, step);
          const int column = int(random() % 2);
          twins.Each([&](Table* table) {
            table->Insert(column, keys.data(), 200, rows.data(), 3, column == 0 ? numbers.data() : nullptr,
                          column == 0 ? numbers.data() : nullptr);
          });
          break;
        }
        case 5: {
          const Keys keys = some_keys(200);
          const std::vector<int64_t> numbers(200, 1);
          if (min_count > 0) {
            twins.Each([&](Table* table) { table->InsertWaiting(keys.data(), 200, numbers.data(), nullptr); });
          }
          break;
        }
        case 6:
          if (twins.columns() < 4) twins.Each([&](Table* table) { table->AddColumn(FloatRows({1, 2, 3, 4, 5, 6}, 3)); });
          break;
        case 7:
          if (step % 9 == 0) twins.Each([&](Table* table) { table->Clear(); });
          break;
      }
      if (step % 20 == 0) {
        twins.Compare();
        if (testing::Test::HasFatalFailure()) FAIL() << "step " << step;
      }
    }
    twins.Compare();
  }
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
