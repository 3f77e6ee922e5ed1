// Every rule, type, instruction set and kind of row length against the formulas written out here in
// double, one element after the other.

#include "tensorflow/core/sparse/sparse_apply.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/sparse/test_util.h"

namespace deeprec {
namespace sparse {
namespace {

struct RuleCase {
  std::string name;
  Rule rule;
  Hyper hyper;
};

Hyper BaseHyper() {
  Hyper h;
  h.lr = 0.0625;
  h.momentum = 0.75;
  h.rho = 0.875;
  h.beta1 = 0.75;
  h.beta2 = 0.96875;
  h.beta1_power = 0.5625;
  h.beta2_power = 0.9375;
  h.epsilon = 0.015625;
  return h;
}

std::vector<RuleCase> RuleCases() {
  std::vector<RuleCase> cases;
  auto add = [&](const std::string& name, Rule rule, auto edit) {
    Hyper h = BaseHyper();
    edit(h);
    cases.push_back({name, rule, h});
  };
  auto nothing = [](Hyper&) {};
  add("sgd", Rule::kGradientDescent, nothing);
  add("adagrad", Rule::kAdagrad, nothing);
  add("adagrad_no_epsilon", Rule::kAdagrad, [](Hyper& h) { h.epsilon = 0; });
  add("adagrad_keep_slots", Rule::kAdagrad, [](Hyper& h) { h.update_slots = false; });
  add("momentum", Rule::kMomentum, nothing);
  add("nesterov", Rule::kMomentum, [](Hyper& h) { h.nesterov = true; });
  add("keras_momentum", Rule::kKerasMomentum, nothing);
  add("keras_nesterov", Rule::kKerasMomentum, [](Hyper& h) { h.nesterov = true; });
  for (double power : {-0.5, -0.75, 0.0}) {
    for (bool shrinkage : {false, true}) {
      for (bool multiply : {false, true}) {
        add("ftrl" + std::to_string(power) + (shrinkage ? "_shrinkage" : "") +
                (multiply ? "_by_lr" : ""),
            Rule::kFtrl, [=](Hyper& h) {
              h.lr_power = power;
              h.l1 = 0.125;
              h.l2 = 0.25;
              h.l2_shrinkage = shrinkage ? 0.0625 : 0;
              h.has_l2_shrinkage = shrinkage;
              h.multiply_linear_by_lr = multiply;
            });
      }
    }
  }
  add("rmsprop", Rule::kRmsProp, nothing);
  add("centered_rmsprop", Rule::kCenteredRmsProp, nothing);
  add("adam", Rule::kAdam, nothing);
  add("adamw", Rule::kAdamW, [](Hyper& h) { h.weight_decay = 0.0625; });
  return cases;
}

// The formulas of the optimizers' papers, see update_rules.h.
void Reference(Rule rule, const Hyper& h, double g, double& w, double* s) {
  switch (rule) {
    case Rule::kGradientDescent:
      w -= h.lr * g;
      break;
    case Rule::kAdagrad:
      if (h.update_slots) s[0] += g * g;
      w -= h.lr * g / (std::sqrt(s[0]) + h.epsilon);
      break;
    case Rule::kMomentum:
      s[0] = h.momentum * s[0] + g;
      w -= h.nesterov ? h.lr * (g + h.momentum * s[0]) : h.lr * s[0];
      break;
    case Rule::kKerasMomentum:
      s[0] = h.momentum * s[0] - h.lr * g;
      w += h.nesterov ? h.momentum * s[0] - h.lr * g : s[0];
      break;
    case Rule::kFtrl: {
      const double p = -h.lr_power;
      const double scale = h.multiply_linear_by_lr ? h.lr : 1;
      const double shrunk = g + (h.has_l2_shrinkage ? 2 * h.l2_shrinkage * w : 0);
      const double accum = s[0] + g * g;
      s[1] += scale * (shrunk - (std::pow(accum, p) - std::pow(s[0], p)) / h.lr * w);
      s[0] = accum;
      const double l1 = scale * h.l1;
      const double clipped = std::max(-l1, std::min(l1, s[1]));
      w = (clipped - s[1]) / (scale * (std::pow(accum, p) / h.lr + 2 * h.l2));
      break;
    }
    case Rule::kRmsProp:
      s[0] = h.rho * s[0] + (1 - h.rho) * g * g;
      s[1] = h.momentum * s[1] + h.lr * g / std::sqrt(s[0] + h.epsilon);
      w -= s[1];
      break;
    case Rule::kCenteredRmsProp:
      s[0] = h.rho * s[0] + (1 - h.rho) * g;
      s[1] = h.rho * s[1] + (1 - h.rho) * g * g;
      s[2] = h.momentum * s[2] + h.lr * g / std::sqrt(s[1] - s[0] * s[0] + h.epsilon);
      w -= s[2];
      break;
    case Rule::kAdamW:
    case Rule::kAdam: {
      if (rule == Rule::kAdamW) w -= h.weight_decay * w;
      const double alpha = h.lr * std::sqrt(1 - h.beta2_power) / (1 - h.beta1_power);
      s[0] = h.beta1 * s[0] + (1 - h.beta1) * g;
      s[1] = h.beta2 * s[1] + (1 - h.beta2) * g * g;
      w -= alpha * s[0] / (std::sqrt(s[1]) + h.epsilon);
      break;
    }
  }
}

// var and slots of one table, their values in range for every rule.
template <class T>
struct TestTable {
  int64_t rows, row_len;
  std::vector<T> data[1 + kMaxSlots];

  TestTable(int64_t rows, int64_t row_len, Rule rule, int seed) : rows(rows), row_len(row_len) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> signed_values(-1, 1), positive(0.5, 1.5);
    for (int k = 0; k <= NumSlots(rule); ++k) {
      for (int64_t i = 0; i < rows * row_len; ++i) {
        const bool square = (k == 1 && rule != Rule::kMomentum && rule != Rule::kKerasMomentum &&
                             rule != Rule::kAdam && rule != Rule::kAdamW &&
                             rule != Rule::kCenteredRmsProp) ||
                            (k == 2 && (rule == Rule::kAdam || rule == Rule::kAdamW ||
                                        rule == Rule::kCenteredRmsProp));
        double value = square ? positive(random) : signed_values(random);
        // Keeps mean square above the squared mean.
        if (k == 1 && rule == Rule::kCenteredRmsProp) value *= 0.25;
        data[k].push_back(Element<T>::Make(value));
      }
    }
  }

  Table View() {
    Table table;
    table.var = data[0].data();
    for (int k = 0; k < kMaxSlots; ++k) table.slot[k] = data[k + 1].data();
    table.rows = rows;
    table.row_len = row_len;
    return table;
  }
};

template <class T>
std::vector<T> RandomGrad(int64_t n, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> values(-1, 1);
  std::vector<T> grad;
  for (int64_t i = 0; i < n; ++i) grad.push_back(Element<T>::Make(values(random)));
  return grad;
}

// Indices with many duplicates; row 0 gets about a third.
template <class Index>
std::vector<Index> SkewedIndices(int64_t n, int64_t rows, int seed) {
  std::mt19937 random(seed);
  std::vector<Index> indices;
  for (int64_t i = 0; i < n; ++i) {
    indices.push_back(random() % 3 == 0 ? 0 : Index(random() % uint64_t(rows)));
  }
  return indices;
}

template <class T, class Index>
TestTable<double> ReferenceStep(const TestTable<T>& start, const RuleCase& c,
                                const std::vector<T>& grad, const std::vector<Index>& indices,
                                bool sum_duplicates, bool all_rows) {
  TestTable<double> result(0, start.row_len, c.rule, 0);
  result.rows = start.rows;
  for (int k = 0; k <= NumSlots(c.rule); ++k) {
    for (const T& x : start.data[k]) result.data[k].push_back(Element<T>::Get(x));
  }
  auto update = [&](int64_t row, int64_t column, double g) {
    const int64_t at = row * start.row_len + column;
    double s[kMaxSlots] = {};
    for (int k = 0; k < NumSlots(c.rule); ++k) s[k] = result.data[k + 1][at];
    double w = result.data[0][at];
    Reference(c.rule, c.hyper, g, w, s);
    for (int k = 0; k < NumSlots(c.rule); ++k) result.data[k + 1][at] = s[k];
    result.data[0][at] = w;
  };
  std::map<int64_t, std::vector<int64_t>> positions;
  for (size_t i = 0; i < indices.size(); ++i) positions[indices[i]].push_back(i);
  if (all_rows) {
    for (int64_t row = 0; row < start.rows; ++row) positions[row];
  }
  for (const auto& entry : positions) {
    for (int64_t column = 0; column < start.row_len; ++column) {
      double sum = 0;
      for (int64_t i : entry.second) {
        const double g = Element<T>::Get(grad[i * start.row_len + column]);
        if (!sum_duplicates) update(entry.first, column, g);
        sum += g;
      }
      if (sum_duplicates) update(entry.first, column, sum);
    }
  }
  return result;
}

template <class T>
void ExpectNear(const TestTable<T>& got, const TestTable<double>& expected, Rule rule,
                double tolerance) {
  static const char* const kNames[] = {"var", "slot 0", "slot 1", "slot 2"};
  for (int k = 0; k <= NumSlots(rule); ++k) {
    for (size_t i = 0; i < got.data[k].size(); ++i) {
      const double value = expected.data[k][i];
      ASSERT_NEAR(Element<T>::Get(got.data[k][i]), value,
                  tolerance * std::max(1.0, std::fabs(value)))
          << kNames[k] << " element " << i;
    }
  }
}

template <class T, class Index>
SparseStep MakeStep(const RuleCase& c, TestTable<T>& table, const std::vector<T>& grad,
                    const std::vector<Index>& indices) {
  SparseStep step;
  step.rule = c.rule;
  step.type = Element<T>::kType;
  step.table = table.View();
  step.hyper = c.hyper;
  step.grad = grad.data();
  step.n = indices.size();
  return step;
}

template <class T>
class SparseApplyTest : public ::testing::Test {};
using ElementTypes = ::testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(SparseApplyTest, ElementTypes);

// Float rounding of a few dozen operations (sums of some thirty duplicates), or one storage rounding.
template <class T>
double Tolerance() {
  return sizeof(T) == 2 ? Element<T>::kEpsilon : 40 * Element<T>::kEpsilon;
}

TYPED_TEST(SparseApplyTest, SummedDuplicatesMatchTheFormula) {
  for (Isa isa : AvailableIsas()) {
    for (const RuleCase& c : RuleCases()) {
      for (int64_t row_len : {1, 3, 8, 15, 16, 17, 32, 70}) {
        SCOPED_TRACE(std::string(IsaName(isa)) + " " + c.name + " len " + std::to_string(row_len));
        TestTable<TypeParam> table(37, row_len, c.rule, 1);
        const auto indices = SkewedIndices<int64_t>(90, table.rows, 2);
        const auto grad = RandomGrad<TypeParam>(indices.size() * row_len, 3);
        const auto expected = ReferenceStep(table, c, grad, indices, true, false);
        SparseStep step = MakeStep(c, table, grad, indices);
        SparseApply(step, indices.data(), isa, Threads());
        ExpectNear(table, expected, c.rule, Tolerance<TypeParam>());
      }
    }
  }
}

TYPED_TEST(SparseApplyTest, SequentialDuplicatesMatchTheFormula) {
  for (Isa isa : AvailableIsas()) {
    for (const RuleCase& c : RuleCases()) {
      for (int64_t row_len : {1, 9, 16}) {
        SCOPED_TRACE(std::string(IsaName(isa)) + " " + c.name + " len " + std::to_string(row_len));
        TestTable<TypeParam> table(50, row_len, c.rule, 1);
        // At most a few steps per row, so that roundings of 16-bit state do not pile up.
        const auto indices = SkewedIndices<int32_t>(9, table.rows, 2);
        const auto grad = RandomGrad<TypeParam>(indices.size() * row_len, 3);
        const auto expected = ReferenceStep(table, c, grad, indices, false, false);
        SparseStep step = MakeStep(c, table, grad, indices);
        step.sum_duplicates = false;
        SparseApply(step, indices.data(), isa, Threads());
        ExpectNear(table, expected, c.rule, 4 * Tolerance<TypeParam>());
      }
    }
  }
}

TYPED_TEST(SparseApplyTest, AdamAllRowsMatchesTheFormula) {
  const RuleCase c{"adam", Rule::kAdam, BaseHyper()};
  for (Isa isa : AvailableIsas()) {
    for (int64_t row_len : {1, 3, 16, 33, 200}) {
      SCOPED_TRACE(std::string(IsaName(isa)) + " len " + std::to_string(row_len));
      TestTable<TypeParam> table(301, row_len, c.rule, 1);
      const auto indices = SkewedIndices<int64_t>(90, table.rows, 2);
      const auto grad = RandomGrad<TypeParam>(indices.size() * row_len, 3);
      const auto expected = ReferenceStep(table, c, grad, indices, true, true);
      AdamApplyAllRows(MakeStep(c, table, grad, indices), indices.data(), isa, Threads());
      ExpectNear(table, expected, c.rule, Tolerance<TypeParam>());
    }
  }
}

TYPED_TEST(SparseApplyTest, AdamAllRowsWithoutIndicesDecaysEveryRow) {
  const RuleCase c{"adam", Rule::kAdam, BaseHyper()};
  const std::vector<int64_t> indices;
  const std::vector<TypeParam> grad;
  for (Isa isa : AvailableIsas()) {
    TestTable<TypeParam> table(40, 5, c.rule, 1);
    const auto expected = ReferenceStep(table, c, grad, indices, true, true);
    AdamApplyAllRows(MakeStep(c, table, grad, indices), indices.data(), isa, Threads());
    ExpectNear(table, expected, c.rule, Tolerance<TypeParam>());
  }
}

TYPED_TEST(SparseApplyTest, AdamAllRowsPassesOverZeroMoments) {
  const RuleCase c{"adam", Rule::kAdam, BaseHyper()};
  for (Isa isa : AvailableIsas()) {
    for (bool zero_v : {false, true}) {
      TestTable<TypeParam> table(200, 7, c.rule, 1);
      std::fill(table.data[1].begin(), table.data[1].end(), Element<TypeParam>::Make(0));
      if (zero_v) std::fill(table.data[2].begin(), table.data[2].end(), Element<TypeParam>::Make(0));
      const auto indices = SkewedIndices<int64_t>(5, table.rows, 2);
      const auto grad = RandomGrad<TypeParam>(indices.size() * 7, 3);
      const auto expected = ReferenceStep(table, c, grad, indices, true, true);
      AdamApplyAllRows(MakeStep(c, table, grad, indices), indices.data(), isa, Threads());
      ExpectNear(table, expected, c.rule, Tolerance<TypeParam>());
    }
  }
}

TYPED_TEST(SparseApplyTest, InstructionSetsAgreeBitForBit) {
  for (const RuleCase& c : RuleCases()) {
    for (int64_t row_len : {1, 13, 16, 32, 100}) {
      SCOPED_TRACE(c.name + " len " + std::to_string(row_len));
      const auto indices = SkewedIndices<int64_t>(300, 60, 5);
      const auto grad = RandomGrad<TypeParam>(indices.size() * row_len, 6);
      TestTable<TypeParam> reference(60, row_len, c.rule, 4);
      SparseApply(MakeStep(c, reference, grad, indices), indices.data(), Isa::kScalar, Threads());
      for (Isa isa : AvailableIsas()) {
        TestTable<TypeParam> table(60, row_len, c.rule, 4);
        SparseApply(MakeStep(c, table, grad, indices), indices.data(), isa, Threads());
        for (int k = 0; k <= NumSlots(c.rule); ++k) {
          EXPECT_EQ(0, std::memcmp(table.data[k].data(), reference.data[k].data(),
                                   table.data[k].size() * sizeof(TypeParam)))
              << IsaName(isa) << " array " << k;
        }
      }
    }
  }
}

TYPED_TEST(SparseApplyTest, ResultDoesNotDependOnThreads) {
  const int64_t row_len = 16;
  const auto indices = SkewedIndices<int64_t>(20000, 3000, 5);
  const auto grad = RandomGrad<TypeParam>(indices.size() * row_len, 6);
  for (const RuleCase& c : {RuleCase{"adagrad", Rule::kAdagrad, BaseHyper()},
                            RuleCase{"adam", Rule::kAdam, BaseHyper()}}) {
    for (bool sum_duplicates : {true, false}) {
      TestTable<TypeParam> one(3000, row_len, c.rule, 4);
      SparseStep step = MakeStep(c, one, grad, indices);
      step.sum_duplicates = sum_duplicates;
      SparseApply(step, indices.data(), BestIsa(), Threads());
      for (int threads : {2, 7}) {
        TestTable<TypeParam> many(3000, row_len, c.rule, 4);
        step.table = many.View();
        SparseApply(step, indices.data(), BestIsa(), TestThreads(threads));
        for (int k = 0; k <= NumSlots(c.rule); ++k) {
          EXPECT_EQ(0, std::memcmp(one.data[k].data(), many.data[k].data(),
                                   one.data[k].size() * sizeof(TypeParam)))
              << c.name << " threads " << threads << " array " << k;
        }
      }
    }
  }
}

TYPED_TEST(SparseApplyTest, AdamAllRowsDoesNotDependOnThreads) {
  const RuleCase c{"adam", Rule::kAdam, BaseHyper()};
  const int64_t row_len = 12;
  const auto indices = SkewedIndices<int64_t>(4000, 90000, 5);
  const auto grad = RandomGrad<TypeParam>(indices.size() * row_len, 6);
  TestTable<TypeParam> one(90000, row_len, c.rule, 4), many(90000, row_len, c.rule, 4);
  AdamApplyAllRows(MakeStep(c, one, grad, indices), indices.data(), BestIsa(), Threads());
  AdamApplyAllRows(MakeStep(c, many, grad, indices), indices.data(), BestIsa(), TestThreads(5));
  for (int k = 0; k <= 2; ++k) {
    EXPECT_EQ(0, std::memcmp(one.data[k].data(), many.data[k].data(),
                             one.data[k].size() * sizeof(TypeParam)));
  }
}

TYPED_TEST(SparseApplyTest, EmptyInputsChangeNothing) {
  for (const RuleCase& c : RuleCases()) {
    TestTable<TypeParam> table(4, 3, c.rule, 1);
    const auto before = table.data[0];
    const std::vector<int32_t> none;
    SparseApply(MakeStep(c, table, std::vector<TypeParam>(), none), none.data(), BestIsa(),
                Threads());
    EXPECT_EQ(0, std::memcmp(before.data(), table.data[0].data(), before.size() * sizeof(TypeParam)));

    TestTable<TypeParam> no_columns(4, 0, c.rule, 1);
    const std::vector<int32_t> indices = {0, 1, 1};
    SparseApply(MakeStep(c, no_columns, std::vector<TypeParam>(), indices), indices.data(),
                BestIsa(), Threads());
  }
}

TEST(AdamApplyAllRowsTest, NegativeZerosKeepTheirSignOnlyIfTheFormulaDoes) {
  // w = -0 with m = -0 becomes +0 by w - alpha * m: the shortcut for zero moments must not apply.
  RuleCase c{"adam", Rule::kAdam, BaseHyper()};
  for (Isa isa : AvailableIsas()) {
    TestTable<float> table(1, 4, c.rule, 1);
    table.data[0].assign(4, -0.0f);
    table.data[1] = {-0.0f, -0.0f, -0.0f, -0.0f};
    table.data[2].assign(4, 0.0f);
    const std::vector<int32_t> none;
    AdamApplyAllRows(MakeStep(c, table, std::vector<float>(), none), none.data(), isa, Threads());
    EXPECT_FALSE(std::signbit(table.data[0][0]));
    EXPECT_TRUE(std::signbit(table.data[1][0]));
  }
}

TEST(AdamApplyAllRowsTest, ZeroEpsilonIsNotShortCut) {
  RuleCase c{"adam", Rule::kAdam, BaseHyper()};
  c.hyper.epsilon = 0;
  for (Isa isa : AvailableIsas()) {
    TestTable<float> table(1, 4, c.rule, 1);
    table.data[1].assign(4, 0.0f);
    table.data[2].assign(4, 0.0f);
    const std::vector<int32_t> none;
    AdamApplyAllRows(MakeStep(c, table, std::vector<float>(), none), none.data(), isa, Threads());
    EXPECT_TRUE(std::isnan(table.data[0][0])) << "0 / 0";
  }
}

TEST(FirstBadIndexTest, NamesTheFirstOutside) {
  const std::vector<int32_t> good = {0, 4, 2};
  EXPECT_EQ(FirstBadIndex(good.data(), 3, 5), -1);
  EXPECT_EQ(FirstBadIndex(good.data(), 3, 4), 1);
  const std::vector<int64_t> bad = {0, 3, -1, 9};
  EXPECT_EQ(FirstBadIndex(bad.data(), 4, 5), 2);
  EXPECT_EQ(FirstBadIndex(bad.data(), 4, 0), 0);
  EXPECT_EQ(FirstBadIndex(bad.data(), 0, 0), -1);
}

TEST(NumShardsTest, SmallWorkRunsInline) {
  EXPECT_EQ(NumShards(0, 8), 1);
  EXPECT_EQ(NumShards(199000, 8), 1);
  EXPECT_EQ(NumShards(201000, 8), 2);
  EXPECT_EQ(NumShards(1e9, 8), 8);
}

}  // namespace
}  // namespace sparse
}  // namespace deeprec
