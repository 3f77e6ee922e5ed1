// What a column of an Arrow record batch holds, as far as tensors can hold it: elements of one kind below any number of list
// levels.

#ifndef TENSORFLOW_CORE_COLUMNAR_COLUMN_TYPE_H_
#define TENSORFLOW_CORE_COLUMNAR_COLUMN_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tensorflow/core/columnar/arrow_abi.h"

namespace deeprec {
namespace columnar {

enum class Element {
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kHalf,
  kFloat,
  kDouble,
  kBytes,
};

// Its name in NumPy; "string" for kBytes.
const char* Name(Element element);

// Bytes of one element; 0 for kBytes.
int64_t Width(Element element);

// One list level.
struct Level {
  enum Kind { kOffsets32, kOffsets64, kFixed };
  Kind kind;
  int64_t fixed_size;  // of kFixed
};

struct ColumnType {
  // How the buffers of the innermost array hold the elements.
  enum Storage { kPlain, kBits, kOffsets32, kOffsets64, kFixedBytes };

  std::vector<Level> levels;  // outermost first
  Element element;
  Storage storage;
  int64_t fixed_bytes;  // of kFixedBytes
  // Whether the innermost array holds places in a dictionary, and their kind. Element and storage are the dictionary's then.
  bool has_dictionary;
  Element index;
};

// Reads the type of a column. Returns the reason if it is none that tensors hold, else an empty text.
std::string ParseColumnType(const ArrowSchema& schema, ColumnType* type);

}  // namespace columnar
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_COLUMNAR_COLUMN_TYPE_H_
