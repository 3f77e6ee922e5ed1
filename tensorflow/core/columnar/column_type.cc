#include "tensorflow/core/columnar/column_type.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace deeprec {
namespace columnar {
namespace {

struct ElementInfo {
  const char* name;
  int64_t width;
};

constexpr ElementInfo kElements[] = {
    {"bool", 1},  {"int8", 1},   {"uint8", 1},   {"int16", 2},   {"uint16", 2},  {"int32", 4},  {"uint32", 4},
    {"int64", 8}, {"uint64", 8}, {"float16", 2}, {"float32", 4}, {"float64", 8}, {"string", 0},
};

// Format letters of the ABI.
bool ParsePlain(char format, Element* element) {
  switch (format) {
    case 'c': *element = Element::kInt8; return true;
    case 'C': *element = Element::kUInt8; return true;
    case 's': *element = Element::kInt16; return true;
    case 'S': *element = Element::kUInt16; return true;
    case 'i': *element = Element::kInt32; return true;
    case 'I': *element = Element::kUInt32; return true;
    case 'l': *element = Element::kInt64; return true;
    case 'L': *element = Element::kUInt64; return true;
    case 'e': *element = Element::kHalf; return true;
    case 'f': *element = Element::kFloat; return true;
    case 'g': *element = Element::kDouble; return true;
    default: return false;
  }
}

std::string Unsupported(const char* format) {
  return std::string("its Arrow type (format \"") + format +
         "\") is none that tensors hold: integers, floats, bool, string, binary, and lists of them";
}

std::string ParseElement(const char* format, ColumnType* type) {
  if (format[0] != '\0' && format[1] == '\0') {
    if (ParsePlain(format[0], &type->element)) {
      type->storage = ColumnType::kPlain;
      return "";
    }
    switch (format[0]) {
      case 'b':
        type->element = Element::kBool;
        type->storage = ColumnType::kBits;
        return "";
      case 'u':
      case 'z':
        type->element = Element::kBytes;
        type->storage = ColumnType::kOffsets32;
        return "";
      case 'U':
      case 'Z':
        type->element = Element::kBytes;
        type->storage = ColumnType::kOffsets64;
        return "";
    }
  }
  if (strncmp(format, "w:", 2) == 0) {
    type->element = Element::kBytes;
    type->storage = ColumnType::kFixedBytes;
    type->fixed_bytes = strtoll(format + 2, nullptr, 10);
    return "";
  }
  return Unsupported(format);
}

}  // namespace

const char* Name(Element element) { return kElements[static_cast<int>(element)].name; }

int64_t Width(Element element) { return kElements[static_cast<int>(element)].width; }

std::string ParseColumnType(const ArrowSchema& schema, ColumnType* type) {
  *type = ColumnType{};
  const ArrowSchema* inner = &schema;
  while (inner->format[0] == '+') {
    Level level{};
    if (strcmp(inner->format, "+l") == 0) {
      level.kind = Level::kOffsets32;
    } else if (strcmp(inner->format, "+L") == 0) {
      level.kind = Level::kOffsets64;
    } else if (strncmp(inner->format, "+w:", 3) == 0) {
      level.kind = Level::kFixed;
      level.fixed_size = strtoll(inner->format + 3, nullptr, 10);
    } else {
      return Unsupported(inner->format);
    }
    if (inner->n_children != 1) return "its list type has " + std::to_string(inner->n_children) + " children, not 1";
    type->levels.push_back(level);
    inner = inner->children[0];
  }
  if (inner->dictionary == nullptr) return ParseElement(inner->format, type);
  type->has_dictionary = true;
  // Any integer may be an index.
  if (inner->format[1] != '\0' || !ParsePlain(inner->format[0], &type->index) || type->index >= Element::kHalf) {
    return Unsupported(inner->format);
  }
  return ParseElement(inner->dictionary->format, type);
}

}  // namespace columnar
}  // namespace deeprec
