// Loops of random cells against the same in double, one row after the other, and gradients against differences of it.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/recurrent/loop.h"
#include "tensorflow/core/recurrent/program.h"

namespace deeprec {
namespace recurrent {
namespace {

using Numbers = std::vector<double>;

// A program as it is made by hand.
struct Source {
  std::vector<int64_t> integers;
  std::vector<float> floats;
  int count = 0;

  int Add(Code code, int64_t width, int64_t index, std::vector<int64_t> operands, float scale = 0, float offset = 0) {
    integers.insert(integers.end(), {static_cast<int64_t>(code), width, index, static_cast<int64_t>(operands.size())});
    integers.insert(integers.end(), operands.begin(), operands.end());
    floats.insert(floats.end(), {scale, offset});
    return count++;
  }
};

// A GRU whose gate to keep the state is scaled by the last column of the input: most codes, a slice of an input, columns.
Program AttentionGru(int64_t in, int64_t units) {
  Source s;
  const int whole = s.Add(Code::kInput, in + 1, 0, {}), h = s.Add(Code::kState, units, 0, {});
  const int x = s.Add(Code::kSlice, in, 0, {whole}), attention = s.Add(Code::kSlice, 1, in, {whole});
  const int both = s.Add(Code::kConcat, in + units, 0, {x, h});
  const int product = s.Add(Code::kMatMul, 2 * units, 0, {both}), biased = s.Add(Code::kAddVector, 2 * units, 1, {product});
  const int gates = s.Add(Code::kSigmoid, 2 * units, 0, {biased});
  const int reset = s.Add(Code::kSlice, units, 0, {gates}), keep = s.Add(Code::kSlice, units, units, {gates});
  const int held = s.Add(Code::kMultiply, units, 0, {reset, h}), second = s.Add(Code::kConcat, in + units, 0, {x, held});
  const int inner = s.Add(Code::kAddVector, units, 3, {s.Add(Code::kMatMul, units, 2, {second})});
  const int candidate = s.Add(Code::kTanh, units, 0, {s.Add(Code::kMulVector, units, 4, {inner})});
  const int gate = s.Add(Code::kMultiply, units, 0, {s.Add(Code::kAffine, 1, 0, {attention}, -1, 1), keep});
  const int kept = s.Add(Code::kMultiply, units, 0, {gate, h}), rest = s.Add(Code::kAffine, units, 0, {gate}, -1, 1);
  const int added = s.Add(Code::kMultiply, units, 0, {rest, candidate}), state = s.Add(Code::kAdd, units, 0, {kept, added});
  const int positive = s.Add(Code::kRelu, units, 0, {s.Add(Code::kSubtract, units, 0, {state, attention})});
  Program program;
  EXPECT_EQ(program.Parse(s.integers, s.floats, {positive, state}, {state}, 1, 5), "");
  return program;
}

// One row in double.
struct Reference {
  const Program& program;
  std::vector<Numbers> inputs, states, captures;  // inputs: [steps * width] of this row
  int64_t length;

  // The sum of outputs and last states, each times its weight.
  double Run(const std::vector<Numbers>& output_weights, const std::vector<Numbers>& state_weights) const {
    std::vector<Numbers> state = states;
    double sum = 0;
    for (int64_t t = 0; t < length; ++t) {
      std::vector<Numbers> values;
      for (const Value& v : program.values) {
        Numbers y(v.width);
        const auto x = [&](int i, int64_t j) {
          const Numbers& operand = values[v.operands[i]];
          return operand.size() == 1 ? operand[0] : operand[j];
        };
        int64_t filled = 0;
        for (int64_t j = 0; j < v.width; ++j) {
          switch (v.code) {
            case Code::kInput: y[j] = inputs[v.index][t * v.width + j]; break;
            case Code::kState: y[j] = state[v.index][j]; break;
            case Code::kConcat:
              if (j == 0) {
                for (const int o : v.operands) {
                  for (const double number : values[o]) y[filled++] = number;
                }
              }
              break;
            case Code::kSlice: y[j] = values[v.operands[0]][v.index + j]; break;
            case Code::kMatMul:
              for (size_t l = 0; l < values[v.operands[0]].size(); ++l) {
                y[j] += values[v.operands[0]][l] * captures[v.index][l * v.width + j];
              }
              break;
            case Code::kAddVector: y[j] = x(0, j) + captures[v.index][j]; break;
            case Code::kMulVector: y[j] = x(0, j) * captures[v.index][j]; break;
            case Code::kAdd: y[j] = x(0, j) + x(1, j); break;
            case Code::kSubtract: y[j] = x(0, j) - x(1, j); break;
            case Code::kMultiply: y[j] = x(0, j) * x(1, j); break;
            case Code::kAffine: y[j] = v.scale * x(0, j) + v.offset; break;
            case Code::kSigmoid: y[j] = 1 / (1 + std::exp(-x(0, j))); break;
            case Code::kTanh: y[j] = std::tanh(x(0, j)); break;
            case Code::kRelu: y[j] = std::max(0.0, x(0, j)); break;
          }
        }
        values.push_back(y);
      }
      for (size_t k = 0; k < program.outputs.size(); ++k) {
        const Numbers& y = values[program.outputs[k]];
        for (size_t j = 0; j < y.size(); ++j) sum += y[j] * output_weights[k][t * y.size() + j];
      }
      for (size_t s = 0; s < state.size(); ++s) state[s] = values[program.new_states[s]];
    }
    for (size_t s = 0; s < state.size(); ++s) {
      for (size_t j = 0; j < state[s].size(); ++j) sum += state[s][j] * state_weights[s][j];
    }
    return sum;
  }
};

class LoopTest : public testing::TestWithParam<int> {
 protected:
  std::vector<float> Random(int64_t n, float scale = 1) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> numbers(n);
    for (float& x : numbers) x = normal(engine_);
    return numbers;
  }
  const KernelTable& Table() { return BlockKernels(static_cast<sparse::Isa>(GetParam())); }
  void SetUp() override {
    if (GetParam() > static_cast<int>(sparse::BestIsa())) GTEST_SKIP() << "not on this processor";
  }

  std::mt19937 engine_{17};
};

std::vector<const float*> Pointers(const std::vector<std::vector<float>>& tensors) {
  std::vector<const float*> result;
  for (const auto& t : tensors) result.push_back(t.data());
  return result;
}

// Columns of row `row` of [steps, batch, width].
Numbers RowOf(const std::vector<float>& tensor, int64_t steps, int64_t batch, int64_t width, int64_t row) {
  Numbers numbers;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t j = 0; j < width; ++j) numbers.push_back(tensor[(t * batch + row) * width + j]);
  }
  return numbers;
}

TEST_P(LoopTest, ResultsAndGradientsAreThoseOfTheFormula) {
  for (const auto& [in, units, batch, steps] :
       std::vector<std::array<int64_t, 4>>{{3, 5, 4, 3}, {36, 36, 70, 2}, {7, 17, 3, 1}, {16, 32, 1, 4}}) {
    const Program program = AttentionGru(in, units);
    const std::vector<std::vector<float>> inputs = {Random(steps * batch * (in + 1))}, states = {Random(batch * units)};
    const std::vector<std::vector<float>> captures = {Random((in + units) * 2 * units, 0.3), Random(2 * units),
                                                      Random((in + units) * units, 0.3), Random(units), Random(units)};
    LoopArguments arguments;
    arguments.program = &program;
    arguments.steps = steps;
    arguments.batch = batch;
    for (int64_t i = 0; i < batch; ++i) arguments.lengths.push_back((i * 7 + 1) % (steps + 1));
    arguments.inputs = Pointers(inputs);
    arguments.states = Pointers(states);
    arguments.captures = Pointers(captures);

    std::vector<std::vector<float>> outputs(2, std::vector<float>(steps * batch * units, NAN));
    std::vector<float> last(batch * units, NAN);
    RunLoop(arguments, {{outputs[0].data(), outputs[1].data()}, {last.data()}}, Table(), {});
    const std::vector<std::vector<float>> output_weights = {Random(steps * batch * units), Random(steps * batch * units)};
    const std::vector<std::vector<float>> state_weights = {Random(batch * units)};

    std::vector<float> input_slopes(inputs[0].size(), NAN), state_slopes(states[0].size(), NAN);
    std::vector<std::vector<float>> capture_slopes;
    for (const auto& c : captures) capture_slopes.emplace_back(c.size(), NAN);
    LoopGradients gradients;
    gradients.outputs = Pointers(output_weights);
    gradients.new_states = Pointers(state_weights);
    gradients.inputs = {input_slopes.data()};
    gradients.states = {state_slopes.data()};
    for (auto& c : capture_slopes) gradients.captures.push_back(c.data());
    RunLoopGradient(arguments, gradients, Table(), {});

    // What the loop gave, weighted likewise, row by row.
    std::vector<Reference> references;
    std::vector<std::vector<Numbers>> weights, last_weights;
    for (int64_t row = 0; row < batch; ++row) {
      references.push_back({program, {RowOf(inputs[0], steps, batch, in + 1, row)}, {RowOf(states[0], 1, batch, units, row)}, {},
                            arguments.lengths[row]});
      for (const auto& c : captures) references.back().captures.emplace_back(c.begin(), c.end());
      weights.push_back({RowOf(output_weights[0], steps, batch, units, row), RowOf(output_weights[1], steps, batch, units, row)});
      last_weights.push_back({RowOf(state_weights[0], 1, batch, units, row)});
      double sum = 0;
      for (int k = 0; k < 2; ++k) {
        const Numbers of_row = RowOf(outputs[k], steps, batch, units, row);
        for (size_t j = 0; j < of_row.size(); ++j) sum += of_row[j] * weights[row][k][j];
      }
      const Numbers of_row = RowOf(last, 1, batch, units, row);
      for (size_t j = 0; j < of_row.size(); ++j) sum += of_row[j] * last_weights[row][0][j];
      EXPECT_NEAR(sum, references[row].Run(weights[row], last_weights[row]), 2e-5 * (units * steps + 1)) << "row " << row;
    }
    const auto slope = [&](int64_t only_row, auto number_of) {
      const double h = 1e-6;
      double difference = 0;
      for (int64_t row = 0; row < batch; ++row) {
        if (only_row >= 0 && row != only_row) continue;
        double& number = number_of(&references[row]);
        const double before = number;
        number = before + h;
        difference += references[row].Run(weights[row], last_weights[row]);
        number = before - h;
        difference -= references[row].Run(weights[row], last_weights[row]);
        number = before;
      }
      return difference / (2 * h);
    };
    const double tolerance = 3e-4;
    for (int trial = 0; trial < 60; ++trial) {
      const int64_t row = engine_() % batch, t = engine_() % steps, j = engine_() % (in + 1), u = engine_() % units;
      EXPECT_NEAR(input_slopes[(t * batch + row) * (in + 1) + j],
                  slope(row, [&](Reference* r) -> double& { return r->inputs[0][t * (in + 1) + j]; }), tolerance);
      EXPECT_NEAR(state_slopes[row * units + u], slope(row, [&](Reference* r) -> double& { return r->states[0][u]; }), tolerance);
      for (size_t c = 0; c < captures.size(); ++c) {
        const int64_t at = engine_() % captures[c].size();
        const double expected = slope(-1, [&](Reference* r) -> double& { return r->captures[c][at]; });
        EXPECT_NEAR(capture_slopes[c][at], expected, tolerance * (1 + std::abs(expected))) << "capture " << c;
      }
    }
  }
}

TEST_P(LoopTest, NothingIsComputedWithoutRowsOrSteps) {
  const Program program = AttentionGru(2, 3);
  const std::vector<std::vector<float>> captures = {Random(30), Random(6), Random(15), Random(3), Random(3)};
  LoopArguments arguments;
  arguments.program = &program;
  arguments.captures = Pointers(captures);
  arguments.batch = 2;
  arguments.lengths = {0, 0};
  const std::vector<float> state = Random(6);
  std::vector<float> last(6);
  arguments.inputs = {nullptr};
  arguments.states = {state.data()};
  RunLoop(arguments, {{nullptr, nullptr}, {last.data()}}, Table(), {});
  EXPECT_EQ(last, state);
  std::vector<std::vector<float>> slopes;
  for (const auto& c : captures) slopes.emplace_back(c.size(), 1);
  LoopGradients gradients;
  gradients.outputs = {nullptr, nullptr};
  gradients.new_states = {state.data()};
  gradients.inputs = {nullptr};
  gradients.states = {last.data()};
  for (auto& c : slopes) gradients.captures.push_back(c.data());
  RunLoopGradient(arguments, gradients, Table(), {});
  EXPECT_EQ(last, state);
  for (const auto& c : slopes) EXPECT_EQ(c, std::vector<float>(c.size(), 0));
}

TEST_P(LoopTest, FunctionsAreExactToAFewUnits) {
  for (float x = -100; x < 100; x += 0.0137f) {
    for (const float scale : {1.0f, 0.01f}) {
      float in = x * scale, sigmoid, tanh;
      Table().function[static_cast<int>(Function::kSigmoid)]({&in, 1}, {&sigmoid, 1}, 1, 1);
      Table().function[static_cast<int>(Function::kTanh)]({&in, 1}, {&tanh, 1}, 1, 1);
      EXPECT_NEAR(sigmoid, 1 / (1 + std::exp(-double{in})), 1.5e-7) << in;
      EXPECT_NEAR(tanh, std::tanh(double{in}), 1e-7 + 2e-7 * std::abs(in)) << in;
    }
  }
  float nan = NAN, y;
  for (auto function : Table().function) {
    function({&nan, 1}, {&y, 1}, 1, 1);
    EXPECT_TRUE(std::isnan(y));
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, LoopTest, testing::Values(0, 1, 2),
                         [](const auto& info) { return sparse::IsaName(static_cast<sparse::Isa>(info.param)); });

TEST(ProgramTest, WhatIsWrongIsSaid) {
  const auto error = [](const Source& s, std::vector<int64_t> outputs, std::vector<int64_t> states, int inputs, int captures) {
    return Program().Parse(s.integers, s.floats, outputs, states, inputs, captures);
  };
  Source s;
  const int x = s.Add(Code::kInput, 4, 0, {});
  EXPECT_EQ(error(s, {x}, {}, 1, 0), "");
  EXPECT_EQ(error(s, {1}, {}, 1, 0), "outputs name no value");
  EXPECT_EQ(error(s, {x}, {-1}, 1, 0), "new states name no value");
  EXPECT_EQ(error(s, {x}, {}, 2, 0), "input 1 is not read");
  EXPECT_EQ(error(s, {x}, {}, 0, 0), "value 0: no such input, or read before");
  EXPECT_EQ(error(s, {x}, {}, 1, 1), "capture 0 is not used");
  Source cut = s;
  cut.integers.pop_back();
  EXPECT_EQ(error(cut, {x}, {}, 1, 0), "value 0: cut short");
  const auto with = [&](Code code, int64_t width, int64_t index, std::vector<int64_t> operands) {
    Source longer = s;
    longer.Add(code, width, index, operands);
    return error(longer, {x}, {}, 1, 0);
  };
  EXPECT_EQ(with(Code::kTanh, 4, 0, {1}), "value 1: operand is no value before it");
  EXPECT_EQ(with(Code::kTanh, 3, 0, {0}), "value 1: operands have other widths");
  EXPECT_EQ(with(Code::kTanh, 4, 0, {0, 0}), "value 1: takes another number of operands");
  EXPECT_EQ(with(Code::kSlice, 3, 2, {0}), "value 1: a slice beyond its operand");
  EXPECT_EQ(with(Code::kMatMul, 3, 0, {0}), "value 1: no such matrix");
  EXPECT_EQ(with(Code::kConcat, 4, 0, {0, 0}), "value 1: operands of a concatenation have other widths");
  EXPECT_EQ(with(Code::kAdd, 0, 0, {0, 0}), "value 1: width 0");
  EXPECT_EQ(with(static_cast<Code>(14), 4, 0, {0}), "value 1: unknown code 14");
}

}  // namespace
}  // namespace recurrent
}  // namespace deeprec
