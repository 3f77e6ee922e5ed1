// What can go wrong with a tier below memory, and with a batch that the first tier has no room for.

#ifndef TENSORFLOW_CORE_EMBEDDING_STORAGE_ERROR_H_
#define TENSORFLOW_CORE_EMBEDDING_STORAGE_ERROR_H_

#include <stdexcept>
#include <string>

namespace deeprec {
namespace embedding {

class StorageError : public std::runtime_error {
 public:
  enum class Kind {
    kNoSpace,      // the disk, a quota or a limit is full
    kUnavailable,  // a file or folder can not be made, read or written
    kAltered,      // a file does not hold what was written
  };
  StorageError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  // Of an errno; its text is added to the message.
  static StorageError OfErrno(const std::string& message, int error);
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// A batch with more different keys than the first tier holds rows.
class BatchTooLargeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_STORAGE_ERROR_H_
