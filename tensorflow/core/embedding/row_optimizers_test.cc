#include "tensorflow/core/embedding/row_optimizers.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tensorflow/core/embedding/test_table.h"
#include "tensorflow/core/sparse/test_util.h"

namespace deeprec {
namespace embedding {
namespace {

void Step(Table* table, const Keys& keys, const Floats& grad, const RowUpdater& update) {
  TableUpdate step;
  step.keys = keys.data();
  step.grad = grad.data();
  step.n = int64_t(keys.size());
  table->Update(step, update, Threads());
}

// A table of rows of ones with slots of the given first values.
std::unique_ptr<Table> Ones(int64_t dim, const Floats& slots, const std::vector<int64_t>& slot_dims = {}) {
  auto table = std::make_unique<Table>(TableOptions(), FloatRows(Floats(dim, 1), dim));
  for (size_t i = 0; i < slots.size(); ++i) {
    const int64_t slot_dim = slot_dims.empty() ? dim : slot_dims[i];
    table->AddColumn(FloatRows(Floats(slot_dim, slots[i]), slot_dim));
  }
  return table;
}

// One update: w = .90122706, accumulator 4.1; two: w = .8309542, accumulator 8.1.
TEST(Adagrad, GivesThePublishedValues) {
  for (const sparse::Isa isa : sparse::AvailableIsas()) {
    auto table = Ones(3, {0.1f});
    sparse::Hyper hyper;
    hyper.lr = 0.1;
    const Floats grad(3, 2);
    const float expected[] = {0.90122706f, 0.8309542f};
    for (int step = 0; step < 2; ++step) {
      Step(table.get(), {5}, grad,
          ElementwiseOptimizer(RowsOf(*table, {1}), sparse::Rule::kAdagrad, hyper, grad.data(), isa));
      EXPECT_FLOAT_EQ(Lookup(*table, {5})[2], expected[step]);
    }
    EXPECT_FLOAT_EQ(ReadColumn(*table, 1, {5})[0], 8.1f);
  }
}

TEST(AdamW, DecaysTheRowBeforeTheStep) {
  auto adam = Ones(5, {0, 0});
  auto adamw = Ones(5, {0, 0});
  sparse::Hyper hyper;
  hyper.lr = 0.01;
  hyper.beta1 = 0.9, hyper.beta2 = 0.999, hyper.beta1_power = 0.9, hyper.beta2_power = 0.999;
  hyper.epsilon = 1e-8;
  hyper.weight_decay = 0.125;
  const Floats grad = {1, -2, 3, -4, 5};
  const auto isa = sparse::BestIsa();
  Step(adam.get(), {1}, grad,
      ElementwiseOptimizer(RowsOf(*adam, {1, 2}), sparse::Rule::kAdam, hyper, grad.data(), isa));
  Step(adamw.get(), {1}, grad,
      ElementwiseOptimizer(RowsOf(*adamw, {1, 2}), sparse::Rule::kAdamW, hyper, grad.data(), isa));
  const Floats a = Lookup(*adam, {1}), w = Lookup(*adamw, {1});
  for (int d = 0; d < 5; ++d) EXPECT_NEAR(a[d] - w[d], 0.125, 1e-6);
}

// Losses 36, 32.444176, 29.847788, 27.74195, 25.852505: six ids of ones, dim 3, gradient 2, summed over all
// elements.
TEST(AdagradDecay, GivesThePublishedLosses) {
  for (const int64_t power_dim : {int64_t{1}, int64_t{3}}) {
    auto table = Ones(3, {0.1f, 0}, {3, power_dim});
    const Keys keys = {0, 1, 2, 3, 4, 5};
    const Floats grad(18, 2);
    const float expected[] = {36, 32.444176f, 29.847788f, 27.74195f, 25.852505f};
    for (int64_t global_step = 0; global_step < 5; ++global_step) {
      float loss = 0;
      for (const float x : Lookup(*table, keys)) loss += 2 * x;
      EXPECT_FLOAT_EQ(loss, expected[global_step]);
      AdagradDecayStep step;
      step.lr = 0.1;
      step.period = (global_step + 1) / 2;
      step.rate = 0.9;
      step.baseline = 0.1;
      step.power_dim = power_dim;
      Step(table.get(), keys, grad,
          AdagradDecayOptimizer(RowsOf(*table, {1, 2}), step, grad.data(), sparse::BestIsa()));
    }
  }
}

TEST(AdagradDecay, CatchesUpWithThePeriodsARowHasMissed) {
  auto table = Ones(2, {8, 0}, {2, 1});
  AdagradDecayStep step;
  step.lr = 0;
  step.period = 3;
  step.rate = 0.5;
  step.baseline = 0.25;
  const Floats grad(2, 0);
  Step(table.get(), {1}, grad,
      AdagradDecayOptimizer(RowsOf(*table, {1, 2}), step, grad.data(), sparse::BestIsa()));
  EXPECT_EQ(ReadColumn(*table, 1, {1})[0], 1);  // 8 / 2^3
  EXPECT_EQ(ReadColumn(*table, 2, {1})[0], 3);
  step.period = 9;
  Step(table.get(), {1}, grad,
      AdagradDecayOptimizer(RowsOf(*table, {1, 2}), step, grad.data(), sparse::BestIsa()));
  EXPECT_EQ(ReadColumn(*table, 1, {1})[0], 0.25f);  // never below the baseline
}

// Ftrl(.1, l1 = 2, l2 = 1e-5) on ones, dim 3, accumulator .1, gradients 6 and 4.
TEST(GroupFtrl, GivesThePublishedValues) {
  auto table = Ones(3, {0.1f, 0});
  sparse::Hyper hyper;
  hyper.lr = 0.1;
  hyper.l1 = 2;
  hyper.l2 = 1e-5;
  const Keys keys = {0, 0, 0, 1, 1, 2};
  const Floats grad(18, 2);
  Step(table.get(), keys, grad, GroupFtrlOptimizer(RowsOf(*table, {1, 2}), hyper, grad.data()));
  const Floats rows = Lookup(*table, {0, 1});
  EXPECT_FLOAT_EQ(rows[0], .8282884f);
  EXPECT_FLOAT_EQ(rows[3], .7927219f);
  EXPECT_EQ(table->EvictSmallerThan(0.9), 1);
  EXPECT_FLOAT_EQ(Lookup(*table, {2})[0], 1);
}

TEST(GroupFtrl, ZeroesRowsWithinThePenalty) {
  auto table = Ones(2, {1, 0});
  sparse::Hyper hyper;
  hyper.lr = 1;
  hyper.l1 = 100;
  const Floats grad = {1, 2};
  Step(table.get(), {4}, grad, GroupFtrlOptimizer(RowsOf(*table, {1, 2}), hyper, grad.data()));
  EXPECT_EQ(Lookup(*table, {4}), (Floats{0, 0}));
}

TEST(GroupFtrl, KeepsNaN) {
  auto table = Ones(1, {1, 0});
  sparse::Hyper hyper;
  hyper.lr = 1;
  const Floats grad = {NAN};
  Step(table.get(), {4}, grad, GroupFtrlOptimizer(RowsOf(*table, {1, 2}), hyper, grad.data()));
  EXPECT_TRUE(std::isnan(Lookup(*table, {4})[0]));
}

}  // namespace
}  // namespace embedding
}  // namespace deeprec
