// Lists of numbers in text: "2, 10,7", and of pairs: "2:0.5, 10:1".

#ifndef TENSORFLOW_CORE_STRINGS_NUMBER_LISTS_H_
#define TENSORFLOW_CORE_STRINGS_NUMBER_LISTS_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace deeprec {
namespace strings {

// Whether `delimiter` can stand between numbers: one character that is no part of one, nor the
// colon of pairs.
bool IsDelimiter(std::string_view delimiter);

// Appends the numbers of `text` to `numbers`; false if it is no list of T, which are decimal and
// in T's range: no "inf", "nan" or hexadecimal numbers. T is int32_t, int64_t, float or double.
//
// Blanks around a number do not count. An empty text is an empty list, one delimiter may stand
// at the end, and if the delimiter is a blank, several count as one.
template <class T>
bool ParseNumbers(std::string_view text, char delimiter, std::vector<T>* numbers);

// The same for pairs of an int64 and a T, with a colon between.
template <class T>
bool ParsePairs(std::string_view text, char delimiter, std::vector<std::pair<int64_t, T>>* pairs);

}  // namespace strings
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_STRINGS_NUMBER_LISTS_H_
