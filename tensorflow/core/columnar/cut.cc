#include "tensorflow/core/columnar/cut.h"

#include <cstring>
#include <limits>

namespace deeprec {
namespace columnar {
namespace {

constexpr int64_t kMaxSplit = std::numeric_limits<int32_t>::max();

bool Bit(const void* bits, int64_t at) { return static_cast<const uint8_t*>(bits)[at >> 3] >> (at & 7) & 1; }

// The first null of elements [begin, end), which are counted with the array's offset; -1 if there is none.
int64_t FirstNull(const ArrowArray& array, int64_t begin, int64_t end) {
  if (array.null_count == 0 || array.n_buffers == 0 || array.buffers[0] == nullptr) return -1;
  for (int64_t i = begin; i < end; ++i) {
    if (!Bit(array.buffers[0], i)) return i;
  }
  return -1;
}

// Lengths of lists, one after another.
class Lengths {
 public:
  Lengths(const Level& level, const ArrowArray& lists) : level_(level), lists_(lists) {}

  // Start of list `i` in the child, not counting the child's offset. Valid for the end of the last list, too.
  int64_t Start(int64_t i) const {
    switch (level_.kind) {
      case Level::kFixed: return i * level_.fixed_size;
      case Level::kOffsets32: return static_cast<const int32_t*>(lists_.buffers[1])[i];
      default: return static_cast<const int64_t*>(lists_.buffers[1])[i];
    }
  }

 private:
  const Level& level_;
  const ArrowArray& lists_;
};

// What one list level says about the length of its lists, if that is to be one for all.
struct OneLength {
  int64_t length = -1;

  std::string Add(int64_t other) {
    if (length < 0) length = other;
    if (length == other) return "";
    return "its lists have different lengths (" + std::to_string(length) + " and " + std::to_string(other) +
           "), so it has no fixed shape; its ragged_rank must count them";
  }
};

class Cutter {
 public:
  Cutter(const ColumnType& type, size_t ragged_rank, const std::vector<int64_t>& inner_shape, Cut* cut)
      : type_(type), ragged_rank_(ragged_rank), inner_shape_(inner_shape), cut_(cut) {
    cut_->splits.assign(ragged_rank, {0});
    cut_->elements.clear();
    cut_->num_elements = 0;
    dense_.resize(type.levels.size() - ragged_rank);
  }

  std::string Add(const Piece& piece) {
    const ArrowArray* array = piece.array;
    int64_t begin = array->offset + piece.begin;
    int64_t end = array->offset + piece.end;
    int64_t first_null = FirstNull(*array, begin, end);
    if (first_null >= 0) {
      return "row " + std::to_string(first_null - array->offset) + " of a batch of the file is null";
    }
    for (size_t l = 0; l < type_.levels.size(); ++l) {
      // An empty array may have no offsets at all.
      if (begin == end) return "";
      const Lengths lengths(type_.levels[l], *array);
      const std::string error = l < ragged_rank_ ? Split(lengths, begin, end, &cut_->splits[l])
                                                 : Check(lengths, begin, end, &dense_[l - ragged_rank_]);
      if (!error.empty()) return error;
      const ArrowArray* const child = array->children[0];
      begin = child->offset + lengths.Start(begin);
      end = child->offset + lengths.Start(end);
      array = child;
      if (FirstNull(*array, begin, end) >= 0) return "a list has a null element";
    }
    if (begin == end) return "";
    if (type_.has_dictionary) {
      const std::string error = CheckIndices(*array, begin, end);
      if (!error.empty()) return error;
    }
    cut_->elements.push_back({array, begin, end});
    cut_->num_elements += end - begin;
    return "";
  }

  std::string Finish(int64_t num_rows) const {
    int64_t inner = 1;
    for (int64_t dimension : inner_shape_) inner *= dimension;
    if (dense_.empty()) {
      if (inner > 0 ? cut_->num_elements % inner == 0 : cut_->num_elements == 0) return "";
      return std::to_string(cut_->num_elements) + " elements do not fill whole shapes of " + std::to_string(inner);
    }
    const int64_t outer = ragged_rank_ == 0 ? num_rows : cut_->splits.back().back();
    if (outer == 0) return "";
    int64_t found = 1;
    bool fits = true;
    for (size_t i = 0; i < dense_.size(); ++i) {
      // A level below empty lists has no length; the product is zero already.
      const int64_t length = dense_[i].length < 0 ? 0 : dense_[i].length;
      if (dense_.size() == inner_shape_.size() && dense_[i].length >= 0 && length != inner_shape_[i]) fits = false;
      found *= length;
    }
    if (fits && found == inner) return "";
    return "its lists have " + std::to_string(found) + " elements, its shape asks for " + std::to_string(inner);
  }

 private:
  std::string Split(const Lengths& lengths, int64_t begin, int64_t end, std::vector<int32_t>* splits) {
    const int64_t base = splits->back() - lengths.Start(begin);
    if (base + lengths.Start(end) > kMaxSplit) {
      return "a batch has more than 2147483647 elements, which row splits cannot count; take a smaller batch_size";
    }
    splits->reserve(splits->size() + (end - begin));
    for (int64_t i = begin; i < end; ++i) splits->push_back(static_cast<int32_t>(base + lengths.Start(i + 1)));
    return "";
  }

  static std::string Check(const Lengths& lengths, int64_t begin, int64_t end, OneLength* length) {
    for (int64_t i = begin; i < end; ++i) {
      const std::string error = length->Add(lengths.Start(i + 1) - lengths.Start(i));
      if (!error.empty()) return error;
    }
    return "";
  }

  std::string CheckIndices(const ArrowArray& array, int64_t begin, int64_t end) const {
    const ArrowArray& values = *array.dictionary;
    const bool may_be_null = FirstNull(values, values.offset, values.offset + values.length) >= 0;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = internal::IndexAt(type_.index, array.buffers[1], i);
      if (index < 0 || index >= values.length) {
        return "index " + std::to_string(index) + " is outside of its dictionary of " + std::to_string(values.length);
      }
      if (may_be_null && !Bit(values.buffers[0], values.offset + index)) return "a value of its dictionary is null";
    }
    return "";
  }

  const ColumnType& type_;
  const size_t ragged_rank_;
  const std::vector<int64_t>& inner_shape_;
  Cut* const cut_;
  std::vector<OneLength> dense_;
};

void Unpack(const void* bits, int64_t begin, int64_t end, uint8_t* out) {
  for (int64_t i = begin; i < end; ++i) *out++ = Bit(bits, i);
}

}  // namespace

namespace internal {

std::string_view BytesAt(const ColumnType& type, const ArrowArray& array, int64_t at) {
  if (type.storage == ColumnType::kFixedBytes) {
    return {static_cast<const char*>(array.buffers[1]) + at * type.fixed_bytes,
            static_cast<size_t>(type.fixed_bytes)};
  }
  int64_t begin, end;
  if (type.storage == ColumnType::kOffsets32) {
    const auto* const offsets = static_cast<const int32_t*>(array.buffers[1]);
    begin = offsets[at];
    end = offsets[at + 1];
  } else {
    const auto* const offsets = static_cast<const int64_t*>(array.buffers[1]);
    begin = offsets[at];
    end = offsets[at + 1];
  }
  // There may be no data where all texts are empty.
  if (begin == end) return {};
  return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<size_t>(end - begin)};
}

int64_t IndexAt(Element index, const void* indices, int64_t at) {
  switch (index) {
    case Element::kInt8: return static_cast<const int8_t*>(indices)[at];
    case Element::kUInt8: return static_cast<const uint8_t*>(indices)[at];
    case Element::kInt16: return static_cast<const int16_t*>(indices)[at];
    case Element::kUInt16: return static_cast<const uint16_t*>(indices)[at];
    case Element::kInt32: return static_cast<const int32_t*>(indices)[at];
    case Element::kUInt32: return static_cast<const uint32_t*>(indices)[at];
    default: return static_cast<const int64_t*>(indices)[at];
  }
}

}  // namespace internal

std::string CutRows(const ColumnType& type, const std::vector<Piece>& pieces, size_t ragged_rank,
                    const std::vector<int64_t>& inner_shape, Cut* cut) {
  if (ragged_rank > type.levels.size()) {
    return "it has " + std::to_string(type.levels.size()) + " list levels, its ragged_rank asks for " +
           std::to_string(ragged_rank);
  }
  if (ragged_rank < type.levels.size() && inner_shape.empty()) {
    return "it has " + std::to_string(type.levels.size()) + " list levels, but a ragged_rank of " +
           std::to_string(ragged_rank) + " and no shape for the rest";
  }
  Cutter cutter(type, ragged_rank, inner_shape, cut);
  int64_t num_rows = 0;
  for (const Piece& piece : pieces) {
    const std::string error = cutter.Add(piece);
    if (!error.empty()) return error;
    num_rows += piece.end - piece.begin;
  }
  return cutter.Finish(num_rows);
}

const void* Contiguous(const ColumnType& type, const Cut& cut) {
  if (type.has_dictionary || type.storage != ColumnType::kPlain || cut.elements.size() != 1) return nullptr;
  const Piece& run = cut.elements[0];
  return static_cast<const char*>(run.array->buffers[1]) + run.begin * Width(type.element);
}

void CopyElements(const ColumnType& type, const Cut& cut, void* out) {
  const int64_t width = Width(type.element);
  auto* to = static_cast<uint8_t*>(out);
  for (const Piece& run : cut.elements) {
    const int64_t size = run.end - run.begin;
    if (type.has_dictionary) {
      const ArrowArray& values = *run.array->dictionary;
      for (int64_t i = 0; i < size; ++i) {
        const int64_t at = values.offset + internal::IndexAt(type.index, run.array->buffers[1], run.begin + i);
        if (type.storage == ColumnType::kBits) {
          to[i] = Bit(values.buffers[1], at);
        } else {
          memcpy(to + i * width, static_cast<const char*>(values.buffers[1]) + at * width, width);
        }
      }
    } else if (type.storage == ColumnType::kBits) {
      Unpack(run.array->buffers[1], run.begin, run.end, to);
    } else {
      memcpy(to, static_cast<const char*>(run.array->buffers[1]) + run.begin * width, size * width);
    }
    to += size * width;
  }
}

}  // namespace columnar
}  // namespace deeprec
