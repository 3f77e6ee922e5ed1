// The first fields of a text.

#ifndef TENSORFLOW_CORE_STRINGS_SPLIT_H_
#define TENSORFLOW_CORE_STRINGS_SPLIT_H_

#include <cstdint>
#include <string_view>

namespace deeprec {
namespace strings {

// Calls field(i, text) for the first `limit` fields of `text` and returns how many that were.
//
// Fields end at each of the characters of `delimiters`; empty ones do not count. Without delimiters
// each byte is a field.
template <class Field>
int64_t FirstFields(std::string_view text, std::string_view delimiters, int64_t limit, Field field) {
  int64_t count = 0;
  size_t begin = 0;
  while (count < limit && begin < text.size()) {
    size_t end = begin + 1;
    if (!delimiters.empty()) {
      begin = text.find_first_not_of(delimiters, begin);
      if (begin == std::string_view::npos) break;
      end = text.find_first_of(delimiters, begin);
      if (end == std::string_view::npos) end = text.size();
    }
    field(count++, text.substr(begin, end - begin));
    begin = end;
  }
  return count;
}

}  // namespace strings
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_STRINGS_SPLIT_H_
