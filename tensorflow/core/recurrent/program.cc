#include "tensorflow/core/recurrent/program.h"

#include <cstddef>

namespace deeprec {
namespace recurrent {
namespace {

constexpr int64_t kMaxWidth = 1 << 20;

// The operands a code takes; -1: any number but none.
int NumOperands(Code code) {
  switch (code) {
    case Code::kInput:
    case Code::kState:
      return 0;
    case Code::kConcat:
      return -1;
    case Code::kAdd:
    case Code::kSubtract:
    case Code::kMultiply:
      return 2;
    default:
      return 1;
  }
}

std::string At(size_t value, const std::string& what) { return "value " + std::to_string(value) + ": " + what; }

// Notes the width of input or state `index`; false if it is out of range or there already.
bool Note(std::vector<int64_t>* widths, int64_t index, int64_t width) {
  if (index < 0 || index >= static_cast<int64_t>(widths->size()) || (*widths)[index] != 0) return false;
  (*widths)[index] = width;
  return true;
}

// The same for a capture, which may be used at several places in one shape.
bool Note(std::vector<Capture>* captures, int64_t index, int64_t rows, int64_t columns) {
  if (index < 0 || index >= static_cast<int64_t>(captures->size())) return false;
  Capture& capture = (*captures)[index];
  if (capture.used && (capture.rows != rows || capture.columns != columns)) return false;
  capture = {rows, columns, true};
  return true;
}

// Of a value whose operands exist: that widths fit.
std::string Check(size_t id, const Value& value, Program* program) {
  std::vector<int64_t> widths;
  for (const int operand : value.operands) widths.push_back(program->values[operand].width);
  switch (value.code) {
    case Code::kInput:
      return Note(&program->input_widths, value.index, value.width) ? "" : At(id, "no such input, or read before");
    case Code::kState:
      return Note(&program->state_widths, value.index, value.width) ? "" : At(id, "no such state, or read before");
    case Code::kConcat: {
      int64_t sum = 0;
      for (const int64_t width : widths) sum += width;
      return sum == value.width ? "" : At(id, "operands of a concatenation have other widths");
    }
    case Code::kSlice:
      return value.index >= 0 && value.index <= widths[0] - value.width ? "" : At(id, "a slice beyond its operand");
    case Code::kMatMul:
      return Note(&program->captures, value.index, widths[0], value.width) ? "" : At(id, "no such matrix");
    case Code::kAddVector:
    case Code::kMulVector:
      if (widths[0] != value.width) break;
      return Note(&program->captures, value.index, 0, value.width) ? "" : At(id, "no such vector");
    case Code::kAdd:
    case Code::kSubtract:
    case Code::kMultiply: {
      const bool fit = widths[0] == widths[1] || widths[0] == 1 || widths[1] == 1;
      if (!fit || value.width != (widths[0] == 1 ? widths[1] : widths[0])) break;
      return "";
    }
    default:
      if (widths[0] != value.width) break;
      return "";
  }
  return At(id, "operands have other widths");
}

std::string Choose(const std::vector<int64_t>& chosen, const char* name, size_t values, std::vector<int>* to) {
  for (const int64_t value : chosen) {
    if (value < 0 || value >= static_cast<int64_t>(values)) return std::string(name) + " name no value";
    to->push_back(static_cast<int>(value));
  }
  return "";
}

}  // namespace

std::string Program::Parse(const std::vector<int64_t>& integers, const std::vector<float>& floats,
                           const std::vector<int64_t>& output_values, const std::vector<int64_t>& new_state_values,
                           int num_inputs, int num_captures) {
  *this = Program();
  input_widths.assign(num_inputs, 0);
  state_widths.assign(new_state_values.size(), 0);
  captures.assign(num_captures, Capture{0, 0, false});
  size_t at = 0;
  while (at < integers.size()) {
    const size_t id = values.size();
    if (integers.size() - at < 4 || floats.size() < 2 * (id + 1)) return At(id, "cut short");
    Value value;
    const int64_t code = integers[at], operands = integers[at + 3];
    if (code < 0 || code >= kNumCodes) return At(id, "unknown code " + std::to_string(code));
    value.code = static_cast<Code>(code);
    value.width = integers[at + 1];
    value.index = integers[at + 2];
    value.scale = floats[2 * id];
    value.offset = floats[2 * id + 1];
    if (value.width < 1 || value.width > kMaxWidth) return At(id, "width " + std::to_string(value.width));
    at += 4;
    if (operands < 0 || operands > static_cast<int64_t>(integers.size() - at)) return At(id, "cut short");
    const int wanted = NumOperands(value.code);
    if (wanted >= 0 ? operands != wanted : operands < 1) return At(id, "takes another number of operands");
    for (int64_t i = 0; i < operands; ++i, ++at) {
      if (integers[at] < 0 || integers[at] >= static_cast<int64_t>(id)) return At(id, "operand is no value before it");
      value.operands.push_back(static_cast<int>(integers[at]));
    }
    const std::string wrong = Check(id, value, this);
    if (!wrong.empty()) return wrong;
    value.root = static_cast<int>(id);
    value.column = 0;
    begin.push_back(row_size);
    if (value.code == Code::kSlice) {
      const Value& whole = values[value.operands[0]];
      value.root = whole.root;
      value.column = whole.column + value.index;
    } else {
      row_size += Stride(value.width);
    }
    values.push_back(value);
  }
  std::string wrong = Choose(output_values, "outputs", values.size(), &outputs);
  if (wrong.empty()) wrong = Choose(new_state_values, "new states", values.size(), &new_states);
  if (!wrong.empty()) return wrong;
  for (size_t i = 0; i < new_states.size(); ++i) {
    const int64_t width = values[new_states[i]].width;
    if (state_widths[i] == 0) state_widths[i] = width;  // a state that no value reads
    if (state_widths[i] != width) return "state " + std::to_string(i) + " changes its width";
  }
  for (int i = 0; i < num_inputs; ++i) {
    if (input_widths[i] == 0) return "input " + std::to_string(i) + " is not read";
  }
  for (int i = 0; i < num_captures; ++i) {
    if (!captures[i].used) return "capture " + std::to_string(i) + " is not used";
  }
  return "";
}

}  // namespace recurrent
}  // namespace deeprec
