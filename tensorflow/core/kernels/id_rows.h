// Rows of ids and values that were read from strings, as sparse or dense tensors.

#ifndef TENSORFLOW_CORE_KERNELS_ID_ROWS_H_
#define TENSORFLOW_CORE_KERNELS_ID_ROWS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/kernels/row_shards.h"

namespace tensorflow {

// max_id of "as many columns as the largest id needs".
inline constexpr int64_t kColumnsAsNeeded = -1048575;

template <class T>
using IdRows = std::vector<std::vector<std::pair<int64_t, T>>>;

// The scalar input `max_id`: a number of columns, or kColumnsAsNeeded.
inline absl::Status ReadMaxId(const Tensor& input, int64_t* max_id) {
  if (input.dims() != 0) {
    return errors::InvalidArgument("max_id must be a scalar, got shape ", input.shape().DebugString());
  }
  *max_id = input.scalar<int64_t>()();
  if (*max_id < 0 && *max_id != kColumnsAsNeeded) {
    return errors::InvalidArgument("max_id must not be negative (or be ", kColumnsAsNeeded,
                                   ", for as many columns as ids need), got ", *max_id);
  }
  return absl::OkStatus();
}

// Fills each row by read(text, &row) on the op's threads. `what` says what the texts should be.
template <class Row>
absl::Status ReadRows(OpKernelContext* ctx, const char* name, const Tensor& texts, const char* what,
                      const std::function<bool(const tstring&, Row*)>& read, std::vector<Row>* rows) {
  if (texts.dims() != 1) {
    return errors::InvalidArgument(name, " must be a vector, got shape ", texts.shape().DebugString());
  }
  const int64_t count = texts.NumElements();
  rows->resize(count);
  std::atomic<int64_t> first_bad{count};
  const auto text = texts.vec<tstring>();
  ForRows(ctx, count, 2000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (read(text(i), &(*rows)[i])) continue;
      int64_t known = first_bad;
      while (i < known && !first_bad.compare_exchange_weak(known, i)) {
      }
      return;
    }
  });
  if (first_bad < count) {
    std::string shown = text(first_bad);
    if (shown.size() > 100) shown = shown.substr(0, 100) + "...";
    return errors::InvalidArgument(name, "[", first_bad.load(), "] must be ", what, ", got \"",
                                   absl::CHexEscape(shown), "\"");
  }
  return absl::OkStatus();
}

// Puts the ids of each row in order and finds the number of columns; ids must be in [0, max_id).
template <class T>
absl::Status OrderIds(IdRows<T>* rows, int64_t* max_id) {
  int64_t needed = 0;
  for (size_t i = 0; i < rows->size(); ++i) {
    auto& row = (*rows)[i];
    if (row.empty()) continue;
    // Of an id that is there twice, the order stays.
    auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(row.begin(), row.end(), by_id)) std::stable_sort(row.begin(), row.end(), by_id);
    const int64_t low = row.front().first, high = row.back().first;
    if (low < 0 || high == std::numeric_limits<int64_t>::max() || (*max_id >= 0 && high >= *max_id)) {
      return errors::InvalidArgument("Ids must be in [0, ", *max_id < 0 ? "2^63 - 1" : "max_id = ",
                                     *max_id < 0 ? "" : std::to_string(*max_id), "), got ",
                                     low < 0 ? low : high, " in row ", i);
    }
    needed = std::max(needed, high + 1);
  }
  if (*max_id < 0) *max_id = needed;
  return absl::OkStatus();
}

// Writes rows in order as outputs 0 (indices), 1 (values) and 2 (dense_shape).
template <class T>
absl::Status WriteSparse(OpKernelContext* ctx, const IdRows<T>& rows, int64_t columns) {
  std::vector<int64_t> offsets(rows.size() + 1);
  for (size_t i = 0; i < rows.size(); ++i) offsets[i + 1] = offsets[i] + rows[i].size();
  const int64_t entries = offsets.back();
  Tensor *indices = nullptr, *values = nullptr, *shape = nullptr;
  TF_RETURN_IF_ERROR(ctx->allocate_output(0, TensorShape({entries, 2}), &indices));
  TF_RETURN_IF_ERROR(ctx->allocate_output(1, TensorShape({entries}), &values));
  TF_RETURN_IF_ERROR(ctx->allocate_output(2, TensorShape({2}), &shape));
  shape->vec<int64_t>()(0) = rows.size();
  shape->vec<int64_t>()(1) = columns;
  int64_t* place = indices->flat<int64_t>().data();
  T* value = values->flat<T>().data();
  ForRows(ctx, rows.size(), 200, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t entry = offsets[i];
      for (const auto& [id, number] : rows[i]) {
        place[2 * entry] = i;
        place[2 * entry + 1] = id;
        value[entry++] = number;
      }
    }
  });
  return absl::OkStatus();
}

// Writes rows as output 0, [rows, columns] or that many elements; 0 where there is no id.
template <class T>
absl::Status WriteDense(OpKernelContext* ctx, const IdRows<T>& rows, int64_t columns, bool flat) {
  TensorShape shape({static_cast<int64_t>(rows.size())});
  // Checked: columns are any number.
  TF_RETURN_IF_ERROR(shape.AddDimWithStatus(columns));
  if (flat) shape = TensorShape({shape.num_elements()});
  Tensor* output = nullptr;
  TF_RETURN_IF_ERROR(ctx->allocate_output(0, shape, &output));
  T* out = output->flat<T>().data();
  ForRows(ctx, rows.size(), 100 + columns / 4, [&](int64_t begin, int64_t end) {
    std::fill(out + begin * columns, out + end * columns, T());
    for (int64_t i = begin; i < end; ++i) {
      for (const auto& [id, number] : rows[i]) out[i * columns + id] = number;
    }
  });
  return absl::OkStatus();
}

// Puts the ids in order and writes the rows, as WriteDense or WriteSparse does.
template <bool kDense, class T>
absl::Status OrderAndWrite(OpKernelContext* ctx, IdRows<T>* rows, int64_t max_id, bool flat = false) {
  TF_RETURN_IF_ERROR(OrderIds(rows, &max_id));
  return kDense ? WriteDense(ctx, *rows, max_id, flat) : WriteSparse(ctx, *rows, max_id);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_ID_ROWS_H_
