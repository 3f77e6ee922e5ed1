// Lists of numbers as serialized protocol buffers.
//
// Int64List, Int32List and FloatList are messages with one repeated field, 1 (int64, int32,
// float), as in a tf.train.Feature; KvList has repeated int64 ids, field 1, and as many float
// values, field 2. Both forms of a repeated field are read, the packed one and the other; fields of
// other numbers are skipped, as protocol buffers ask.

#ifndef TENSORFLOW_CORE_STRINGS_FEATURE_LISTS_H_
#define TENSORFLOW_CORE_STRINGS_FEATURE_LISTS_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace deeprec {
namespace strings {

// Each appends what `bytes` holds and returns false if it is cut short, no message, or (int32)
// has a number out of range.
bool ReadInt64List(std::string_view bytes, std::vector<int64_t>* values);
bool ReadInt32List(std::string_view bytes, std::vector<int32_t>* values);
bool ReadFloatList(std::string_view bytes, std::vector<float>* values);

// Also false if there are not as many values as ids.
bool ReadKvList(std::string_view bytes, std::vector<std::pair<int64_t, float>>* pairs);

}  // namespace strings
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_STRINGS_FEATURE_LISTS_H_
