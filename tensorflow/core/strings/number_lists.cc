#include "tensorflow/core/strings/number_lists.h"

#include <locale.h>
#include <stdlib.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

namespace deeprec {
namespace strings {
namespace {

constexpr std::string_view kNumberCharacters = "0123456789+-.eE";

// strtof reads the decimal point of the user's locale; these numbers are data.
locale_t CLocale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", locale_t());
  return locale;
}

float ToFloat(const char* text, char** end, float) { return strtof_l(text, end, CLocale()); }
double ToFloat(const char* text, char** end, double) { return strtod_l(text, end, CLocale()); }

// Reads characters of one text from the left.
class Reader {
 public:
  Reader(std::string_view text, char delimiter) : text_(text), delimiter_(delimiter) {}

  bool AtEnd() const { return position_ == text_.size(); }

  void SkipBlanks() {
    while (!AtEnd() && text_[position_] == ' ') ++position_;
  }

  // Blanks behind a number are not the delimiter, unless it is one.
  void SkipPadding() {
    if (delimiter_ != ' ') SkipBlanks();
  }

  bool Take(char expected) {
    if (AtEnd() || text_[position_] != expected) return false;
    ++position_;
    return true;
  }

  // What must follow an item: the end, or the delimiter.
  bool TakeSeparator() {
    SkipPadding();
    return AtEnd() || Take(delimiter_);
  }

  template <class T>
  bool TakeNumber(T* value) {
    std::string_view rest = text_.substr(position_);
    rest = rest.substr(0, rest.find_first_not_of(kNumberCharacters));
    const size_t length = rest.size();
    // "+5" is a number, "+-5" is none.
    if (rest.size() > 1 && rest[0] == '+' && rest[1] != '-' && rest[1] != '+') rest.remove_prefix(1);
    if (rest.empty() || !Convert(rest, value)) return false;
    position_ += length;
    return true;
  }

 private:
  template <class T>
  static bool Convert(std::string_view text, T* value) {
    if constexpr (std::is_integral_v<T>) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
      return error == std::errc() && end == text.data() + text.size();
    } else {
      // strtof needs the zero at the end.
      char buffer[64];
      std::string longer;
      const char* begin = buffer;
      if (text.size() < sizeof(buffer)) {
        std::memcpy(buffer, text.data(), text.size());
        buffer[text.size()] = 0;
      } else {
        longer.assign(text);
        begin = longer.c_str();
      }
      char* end = nullptr;
      *value = ToFloat(begin, &end, T());
      return end == begin + text.size() && std::isfinite(*value);
    }
  }

  std::string_view text_;
  char delimiter_;
  size_t position_ = 0;
};

// `item` reads one item.
template <class Item>
bool ParseItems(std::string_view text, char delimiter, Item item) {
  Reader reader(text, delimiter);
  while (!reader.AtEnd()) {
    reader.SkipBlanks();
    if (reader.AtEnd()) return delimiter == ' ';
    if (!item(&reader) || !reader.TakeSeparator()) return false;
  }
  return true;
}

}  // namespace

bool IsDelimiter(std::string_view delimiter) {
  return delimiter.size() == 1 && delimiter[0] != '\0' && delimiter[0] != ':' &&
         kNumberCharacters.find(delimiter[0]) == std::string_view::npos;
}

template <class T>
bool ParseNumbers(std::string_view text, char delimiter, std::vector<T>* numbers) {
  return ParseItems(text, delimiter, [numbers](Reader* reader) {
    T value;
    if (!reader->TakeNumber(&value)) return false;
    numbers->push_back(value);
    return true;
  });
}

template <class T>
bool ParsePairs(std::string_view text, char delimiter, std::vector<std::pair<int64_t, T>>* pairs) {
  return ParseItems(text, delimiter, [pairs](Reader* reader) {
    std::pair<int64_t, T> pair;
    if (!reader->TakeNumber(&pair.first)) return false;
    reader->SkipPadding();
    if (!reader->Take(':')) return false;
    reader->SkipPadding();
    if (!reader->TakeNumber(&pair.second)) return false;
    pairs->push_back(pair);
    return true;
  });
}

#define INSTANTIATE(T)                                                       \
  template bool ParseNumbers(std::string_view, char, std::vector<T>*);       \
  template bool ParsePairs(std::string_view, char, std::vector<std::pair<int64_t, T>>*)
INSTANTIATE(int32_t);
INSTANTIATE(int64_t);
INSTANTIATE(float);
INSTANTIATE(double);
#undef INSTANTIATE

}  // namespace strings
}  // namespace deeprec
