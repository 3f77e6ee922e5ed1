// Select with a branch that is one value. `Word` is an unsigned integer of the size of an element.

#ifndef TENSORFLOW_CORE_NN_SELECT_FILL_H_
#define TENSORFLOW_CORE_NN_SELECT_FILL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace deeprec {
namespace nn {

template <class Word>
struct Fill {
  Word value;
  bool where;  // the condition that chooses `value`
};

// y[i] = condition[i] == where ? value : x[i]. y may be x.
template <class Word>
void SelectFill(const bool* condition, const Word* x, const Fill<Word>& fill, int64_t n, Word* y) {
  // Copies: y could be the memory of `fill` for all that the compiler knows.
  const Word flip = fill.where ? Word(~Word(0)) : Word(0), value = fill.value;
  // The compiler has no vector form of bool to integer.
  const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(condition);
  // Each element depends on its own alone, also where y is x.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    // A blend, not a branch: conditions are hard to foretell, and this has a vector form.
    const Word keep = Word(-Word(bytes[i])) ^ flip;
    y[i] = (x[i] & keep) | (value & Word(~keep));
  }
}

// The same for rows [begin, end) of `width` elements, with one condition a row.
template <class Word>
void SelectFillRows(const bool* condition, const Word* x, const Fill<Word>& fill, int64_t width, int64_t begin,
                    int64_t end, Word* y) {
  for (int64_t r = begin; r < end; ++r) {
    const Word* const from = x + r * width;
    Word* const to = y + r * width;
    if (condition[r] == fill.where) {
      std::fill_n(to, width, fill.value);
    } else if (from != to) {
      std::copy_n(from, width, to);
    }
  }
}

// A shape, and how far apart in each operand the elements are along each dimension: 0 where the operand has size 1.
struct Broadcast {
  std::vector<int64_t> sizes, condition_strides, x_strides;
};

// The same elements in the same order, with as few dimensions as possible and at least one.
inline Broadcast Merged(const Broadcast& shape) {
  Broadcast merged = {{1}, {0}, {0}};
  for (size_t d = 0; d < shape.sizes.size(); ++d) {
    const int64_t size = shape.sizes[d], condition = shape.condition_strides[d], x = shape.x_strides[d];
    if (size == 1) continue;
    const bool first = merged.sizes.back() == 1;
    if (first || (merged.condition_strides.back() == size * condition && merged.x_strides.back() == size * x)) {
      merged.sizes.back() *= size;
      merged.condition_strides.back() = condition;
      merged.x_strides.back() = x;
    } else {
      merged.sizes.push_back(size);
      merged.condition_strides.push_back(condition);
      merged.x_strides.push_back(x);
    }
  }
  return merged;
}

// The same for any operands that broadcast to one shape: rows [begin, end) of its last dimension.
template <class Word>
void SelectFillBroadcast(const bool* condition, const Word* x, const Fill<Word>& fill, const Broadcast& shape,
                         int64_t begin, int64_t end, Word* y) {
  const int last = int(shape.sizes.size()) - 1;
  const int64_t width = shape.sizes[last], step = shape.condition_strides[last], x_step = shape.x_strides[last];
  for (int64_t r = begin; r < end; ++r) {
    const bool* chosen = condition;
    const Word* from = x;
    int64_t rest = r;
    for (int d = last - 1; d >= 0; --d) {
      const int64_t place = rest % shape.sizes[d];
      rest /= shape.sizes[d];
      chosen += place * shape.condition_strides[d];
      from += place * shape.x_strides[d];
    }
    Word* const to = y + r * width;
    if (step == 1 && x_step == 1) {
      SelectFill(chosen, from, fill, width, to);
    } else if (step == 0 && *chosen == fill.where) {
      std::fill_n(to, width, fill.value);
    } else {
      for (int64_t i = 0; i < width; ++i) {
        to[i] = chosen[i * step] == fill.where ? fill.value : from[i * x_step];
      }
    }
  }
}

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_SELECT_FILL_H_
