#include "tensorflow/core/sparse/sparse_combine.h"

#include <math.h>

#include <random>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace deeprec {
namespace sparse {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Column {
  std::vector<int64_t> indices, keys, shape;
  std::vector<float> weights;
  SparseKeys sparse() const {
    SparseKeys s;
    s.indices = indices.data();
    s.keys = keys.data();
    s.weights = weights.empty() ? nullptr : weights.data();
    s.n = int64_t(keys.size());
    s.shape = shape.data();
    s.rank = int(shape.size());
    return s;
  }
};

Entries Prepared(const Column& column, const CombineRule& rule) {
  Entries entries;
  EXPECT_EQ(PrepareEntries(column.sparse(), rule, &entries), "");
  return entries;
}

TEST(PrepareEntriesTest, FactorsHaveTheNormalization) {
  const Column column{{0, 0, 0, 1, 2, 0}, {7, 8, 9}, {4, 2}, {1, 3, 2}};
  CombineRule rule;
  rule.combiner = Combiner::kSum;
  EXPECT_THAT(Prepared(column, rule).factors, ElementsAre(1, 3, 2));
  rule.combiner = Combiner::kMean;
  EXPECT_THAT(Prepared(column, rule).factors, ElementsAre(0.25f, 0.75f, 1));
  rule.combiner = Combiner::kSqrtN;
  const Entries entries = Prepared(column, rule);
  EXPECT_FLOAT_EQ(entries.factors[1], 3 / sqrtf(10));
  EXPECT_THAT(entries.keys, ElementsAre(7, 8, 9));
  EXPECT_THAT(entries.rows, ElementsAre(0, 0, 2));
  EXPECT_THAT(entries.empty_rows, ElementsAre(1, 3));
}

TEST(PrepareEntriesTest, PruningLeavesNegativeKeysAndWeightsOut) {
  const Column column{{0, 0, 0, 1, 1, 0, 2, 0}, {-7, 8, 9, 5}, {3, 2}, {1, 3, 0, NAN}};
  CombineRule rule;
  rule.prune = true;
  const Entries entries = Prepared(column, rule);
  EXPECT_THAT(entries.keys, ElementsAre(8));
  EXPECT_THAT(entries.factors, ElementsAre(1));
  EXPECT_THAT(entries.positions, ElementsAre(1));
  EXPECT_THAT(entries.empty_rows, ElementsAre(1, 2));
  rule.combiner = Combiner::kSum;
  EXPECT_THAT(Prepared(column, rule).keys, ElementsAre(8, 9, 5));
}

TEST(PrepareEntriesTest, DimensionsButTheLastAreJoined) {
  const Column column{{0, 1, 0, 1, 0, 3, 1, 2, 0}, {1, 2, 3}, {2, 3, 5}, {}};
  const Entries entries = Prepared(column, CombineRule());
  EXPECT_EQ(entries.num_rows, 6);
  EXPECT_THAT(entries.rows, ElementsAre(1, 3, 5));
  EXPECT_THAT(entries.empty_rows, ElementsAre(0, 2, 4));
}

TEST(PrepareEntriesTest, EmptyRowsAreFilled) {
  const Column column{{1, 0, 1, 1, 2, 0, 4, 0}, {7, 8, -9, 6}, {6, 2}, {3, 1, 5, 2}};
  CombineRule rule;
  rule.prune = rule.fill_empty = true;
  rule.fill_key = 40;
  const Entries entries = Prepared(column, rule);
  EXPECT_THAT(entries.keys, ElementsAre(40, 7, 8, 40, 40, 6, 40));
  EXPECT_THAT(entries.rows, ElementsAre(0, 1, 1, 2, 3, 4, 5));
  EXPECT_THAT(entries.factors, ElementsAre(1, 0.75f, 0.25f, 1, 1, 1, 1));
  EXPECT_THAT(entries.positions, ElementsAre(-1, 0, 1, -1, -1, 3, -1));
  EXPECT_TRUE(entries.empty_rows.empty());
}

TEST(PrepareEntriesTest, NothingIsAllEmptyRows) {
  EXPECT_THAT(Prepared(Column{{}, {}, {2, 9}, {}}, CombineRule()).empty_rows, ElementsAre(0, 1));
  EXPECT_EQ(Prepared(Column{{}, {}, {0, 9}, {}}, CombineRule()).num_rows, 0);
}

TEST(PrepareEntriesTest, WeightsThatAddUpToNothingAreNone) {
  const Column column{{0, 0, 0, 1}, {1, 2}, {1, 2}, {2, -2}};
  EXPECT_THAT(Prepared(column, CombineRule()).factors, ElementsAre(0, 0));
}

TEST(PrepareEntriesTest, SaysWhatIsWrong) {
  Entries entries;
  const CombineRule rule;
  EXPECT_THAT(PrepareEntries(Column{{1, 0, 0, 0}, {1, 2}, {3, 2}, {}}.sparse(), rule, &entries), HasSubstr("row-major"));
  EXPECT_THAT(PrepareEntries(Column{{3, 0}, {1}, {3, 2}, {}}.sparse(), rule, &entries), HasSubstr("[0, 3)"));
  EXPECT_THAT(PrepareEntries(Column{{-1, 0}, {1}, {3, 2}, {}}.sparse(), rule, &entries), HasSubstr("= -1"));
  EXPECT_THAT(PrepareEntries(Column{{}, {}, {-3, 2}, {}}.sparse(), rule, &entries), HasSubstr("dense_shape[0]"));
  EXPECT_THAT(PrepareEntries(Column{{}, {}, {INT64_MAX, 3, 2}, {}}.sparse(), rule, &entries), HasSubstr("dense_shape[1]"));
}

// A random column of 20 rows, its table, and the formula of the result.
class RandomLookup {
 public:
  RandomLookup(int64_t dim, double max_norm, unsigned seed) : dim_(dim), max_norm_(max_norm), random_(seed) {
    std::normal_distribution<float> normal;
    std::set<std::pair<int64_t, int64_t>> places;
    while (places.size() < 60) places.insert({int64_t(random_() % 20), int64_t(random_() % 9)});
    column_.shape = {20, 9};
    for (const auto& [row, place] : places) {
      column_.indices.insert(column_.indices.end(), {row, place});
      column_.keys.push_back(int64_t(random_() % 30));
      column_.weights.push_back(0.1f + float(random_() % 100));
    }
    table_.resize(30 * dim);
    for (float& x : table_) x = normal(random_);
    rule_.max_norm = max_norm;
    entries_ = Prepared(column_, rule_);
    for (int64_t key : entries_.keys) found_.push_back(&table_[key * dim]);
  }
  std::vector<float> Combined() const {
    std::vector<float> out(20 * dim_);
    const int64_t n = int64_t(entries_.keys.size()), middle = RowStart(entries_, n / 2);
    CombineRows(ElementType::kFloat, entries_, 0, middle, found_.data(), dim_, max_norm_, out.data());
    CombineRows(ElementType::kFloat, entries_, middle, n, found_.data() + middle, dim_, max_norm_, out.data());
    return out;
  }
  // The sum of the result times `direction`, in double.
  double Loss(const std::vector<double>& rows, const std::vector<float>& direction) const {
    double loss = 0;
    for (size_t i = 0; i < entries_.keys.size(); ++i) {
      double squares = 0;
      for (int64_t j = 0; j < dim_; ++j) squares += rows[i * dim_ + j] * rows[i * dim_ + j];
      const double clip = max_norm_ > 0 && sqrt(squares) > max_norm_ ? max_norm_ / sqrt(squares) : 1;
      for (int64_t j = 0; j < dim_; ++j) {
        loss += double(entries_.factors[i]) * clip * rows[i * dim_ + j] * direction[entries_.rows[i] * dim_ + j];
      }
    }
    return loss;
  }
  std::vector<double> Rows() const {
    std::vector<double> rows;
    for (const void* row : found_) {
      for (int64_t j = 0; j < dim_; ++j) rows.push_back(static_cast<const float*>(row)[j]);
    }
    return rows;
  }
  const Entries& entries() const { return entries_; }
  const std::vector<const void*>& found() const { return found_; }

 private:
  const int64_t dim_;
  const double max_norm_;
  std::mt19937 random_;
  Column column_;
  CombineRule rule_;
  std::vector<float> table_;
  Entries entries_;
  std::vector<const void*> found_;
};

TEST(CombineRowsTest, GivesTheFormula) {
  for (const int64_t dim : {1, 7, 64, 65, 200}) {
    for (const double max_norm : {0.0, 1.5}) {
      const RandomLookup lookup(dim, max_norm, unsigned(dim));
      const std::vector<float> out = lookup.Combined();
      for (size_t at = 0; at < out.size(); ++at) {
        std::vector<float> one(out.size());
        one[at] = 1;
        EXPECT_NEAR(out[at], lookup.Loss(lookup.Rows(), one), 1e-5) << dim << " " << max_norm;
      }
    }
  }
}

TEST(RowGradientsTest, AreTheDifferencesOfTheFormula) {
  for (const double max_norm : {0.0, 1.5}) {
    const int64_t dim = 5;
    const RandomLookup lookup(dim, max_norm, 3);
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    std::vector<float> grad(20 * dim);
    for (float& g : grad) g = normal(random);
    const int64_t n = int64_t(lookup.entries().keys.size());
    std::vector<float> gradients(n * dim);
    RowGradients(ElementType::kFloat, lookup.entries(), 0, n, lookup.found().data(), dim, max_norm, grad.data(),
                 gradients.data());
    const std::vector<double> rows = lookup.Rows();
    for (size_t at = 0; at < rows.size(); ++at) {
      std::vector<double> up = rows, down = rows;
      up[at] += 1e-5;
      down[at] -= 1e-5;
      EXPECT_NEAR(gradients[at], (lookup.Loss(up, grad) - lookup.Loss(down, grad)) / 2e-5, 1e-4);
    }
  }
}

TEST(WeightGradientsTest, AreTheDifferencesOfTheFormula) {
  const int64_t dim = 3;
  const std::vector<float> table = {1, 2, 3, -1, 0.5f, 2, 4, -2, 1, 0.3f, 0.1f, -0.7f};
  const std::vector<float> grad = {1, -1, 2, 0.5f, 3, 1, 7, 7, 7};
  for (const Combiner combiner : {Combiner::kSum, Combiner::kMean, Combiner::kSqrtN}) {
    for (const double max_norm : {0.0, 2.5}) {
      Column column{{0, 0, 0, 1, 0, 2, 1, 0, 1, 1}, {0, 1, 2, 3, -4}, {3, 3}, {1, 2, 0.5f, 3, 9}};
      CombineRule rule;
      rule.combiner = combiner;
      rule.prune = true;
      rule.max_norm = max_norm;
      const auto loss = [&](std::vector<float>* weights_grad) {
        const Entries entries = Prepared(column, rule);
        std::vector<const void*> found;
        for (int64_t key : entries.keys) found.push_back(&table[key * dim]);
        std::vector<float> out(9);
        CombineRows(ElementType::kFloat, entries, 0, 4, found.data(), dim, max_norm, out.data());
        if (weights_grad != nullptr) {
          WeightGradients(ElementType::kFloat, entries, column.sparse(), rule, 0, 4, found.data(), dim, grad.data(),
                          weights_grad->data());
        }
        double sum = 0;
        for (size_t i = 0; i < out.size(); ++i) sum += double(out[i]) * grad[i];
        return sum;
      };
      std::vector<float> gradients(5, -77);
      loss(&gradients);
      EXPECT_EQ(gradients[4], -77);
      for (int i = 0; i < 4; ++i) {
        const float before = column.weights[i];
        column.weights[i] = before + 0.01f;
        const double up = loss(nullptr);
        column.weights[i] = before - 0.01f;
        const double down = loss(nullptr);
        column.weights[i] = before;
        EXPECT_NEAR(gradients[i], (up - down) / 0.02, 2e-3) << int(combiner) << " " << max_norm;
      }
    }
  }
}

TEST(CombineRowsTest, SixteenBitRowsAreAddedUpInFloat) {
  // 1 + 2^-9 three times: lost in bfloat16 if each sum were rounded.
  const Column column{{0, 0, 0, 1, 0, 2, 0, 3}, {0, 1, 1, 1}, {1, 4}, {}};
  CombineRule rule;
  rule.combiner = Combiner::kSum;
  const Entries entries = Prepared(column, rule);
  const BFloat16 table[2] = {{0x3f80}, {0x3b00}};  // 1, 2^-9
  std::vector<const void*> found;
  for (int64_t key : entries.keys) found.push_back(&table[key]);
  BFloat16 out;
  CombineRows(ElementType::kBFloat16, entries, 0, 4, found.data(), 1, 0, &out);
  EXPECT_EQ(out.bits, 0x3f81);  // 1 + 3 * 2^-9, rounded once
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
