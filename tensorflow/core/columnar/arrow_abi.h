// The structures of the Arrow C data interface and C stream interface. Their layout is a published, stable ABI
// (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html), so what pyarrow exports is read without
// a header or a library of any Arrow version.
//
// They are in a namespace of ours: a program may have Arrow's own beside them.

#ifndef TENSORFLOW_CORE_COLUMNAR_ARROW_ABI_H_
#define TENSORFLOW_CORE_COLUMNAR_ARROW_ABI_H_

#include <cstdint>

namespace deeprec {
namespace columnar {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;  // -1: not counted
  int64_t offset;      // of the first row in the buffers; a child has its own on top
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);  // an array without `release` is the end
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // namespace columnar
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_COLUMNAR_ARROW_ABI_H_
