#include "tensorflow/core/strings/feature_lists.h"

#include <cstring>
#include <limits>

namespace deeprec {
namespace strings {
namespace {

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

bool TakeVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes->empty()) return false;
    const uint8_t byte = bytes->front();
    bytes->remove_prefix(1);
    // The tenth byte has room for one bit.
    if (shift == 63 && byte > 1) return false;
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeBytes(std::string_view* bytes, uint64_t size, std::string_view* taken) {
  if (size > bytes->size()) return false;
  *taken = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

bool TakeFloat(std::string_view* bytes, float* value) {
  std::string_view taken;
  if (!TakeBytes(bytes, sizeof(float), &taken)) return false;
  std::memcpy(value, taken.data(), sizeof(float));  // both are little endian
  return true;
}

// Calls field(number, wire type, varint, payload) for each field of the message: `payload` is what
// a kBytes, kFixed32 or kFixed64 field holds.
template <class Field>
bool ForEachField(std::string_view bytes, Field field) {
  while (!bytes.empty()) {
    uint64_t tag, varint = 0;
    if (!TakeVarint(&bytes, &tag) || tag >> 3 == 0) return false;
    std::string_view payload;
    switch (tag & 7) {
      case kVarint:
        if (!TakeVarint(&bytes, &varint)) return false;
        break;
      case kBytes:
        if (!TakeVarint(&bytes, &varint) || !TakeBytes(&bytes, varint, &payload)) return false;
        break;
      case kFixed32:
        if (!TakeBytes(&bytes, 4, &payload)) return false;
        break;
      case kFixed64:
        if (!TakeBytes(&bytes, 8, &payload)) return false;
        break;
      default:
        return false;
    }
    if (!field(tag >> 3, tag & 7, varint, payload)) return false;
  }
  return true;
}

bool AppendIntegers(uint64_t wire_type, uint64_t varint, std::string_view payload,
                    std::vector<int64_t>* values) {
  if (wire_type == kVarint) {
    values->push_back(static_cast<int64_t>(varint));
    return true;
  }
  if (wire_type != kBytes) return false;
  while (!payload.empty()) {
    if (!TakeVarint(&payload, &varint)) return false;
    values->push_back(static_cast<int64_t>(varint));
  }
  return true;
}

bool AppendFloats(uint64_t wire_type, std::string_view payload, std::vector<float>* values) {
  if (wire_type != kBytes && wire_type != kFixed32) return false;
  while (!payload.empty()) {
    float value;
    if (!TakeFloat(&payload, &value)) return false;
    values->push_back(value);
  }
  return true;
}

}  // namespace

bool ReadInt64List(std::string_view bytes, std::vector<int64_t>* values) {
  return ForEachField(bytes, [values](uint64_t number, uint64_t type, uint64_t varint,
                                      std::string_view payload) {
    return number != 1 || AppendIntegers(type, varint, payload, values);
  });
}

bool ReadInt32List(std::string_view bytes, std::vector<int32_t>* values) {
  std::vector<int64_t> wide;
  if (!ReadInt64List(bytes, &wide)) return false;
  for (const int64_t value : wide) {
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
      return false;
    }
    values->push_back(static_cast<int32_t>(value));
  }
  return true;
}

bool ReadFloatList(std::string_view bytes, std::vector<float>* values) {
  return ForEachField(
      bytes, [values](uint64_t number, uint64_t type, uint64_t, std::string_view payload) {
        return number != 1 || AppendFloats(type, payload, values);
      });
}

bool ReadKvList(std::string_view bytes, std::vector<std::pair<int64_t, float>>* pairs) {
  std::vector<int64_t> ids;
  std::vector<float> values;
  const bool read = ForEachField(bytes, [&](uint64_t number, uint64_t type, uint64_t varint,
                                            std::string_view payload) {
    if (number == 1) return AppendIntegers(type, varint, payload, &ids);
    return number != 2 || AppendFloats(type, payload, &values);
  });
  if (!read || ids.size() != values.size()) return false;
  for (size_t i = 0; i < ids.size(); ++i) pairs->emplace_back(ids[i], values[i]);
  return true;
}

}  // namespace strings
}  // namespace deeprec
