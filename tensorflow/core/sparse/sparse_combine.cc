#include "tensorflow/core/sparse/sparse_combine.h"

#include <math.h>
#include <string.h>

#include <algorithm>

namespace deeprec {
namespace sparse {
namespace {

#include "tensorflow/core/sparse/element_convert.h"
#include "tensorflow/core/sparse/stored_element.h"

// Elements added up at a time: a few registers.
constexpr int64_t kBlock = 64;

// What a row is multiplied by to have an L2 norm of at most `max_norm`.
template <class T>
typename Stored<T>::Compute ClipFactor(const T* row, int64_t dim, double max_norm) {
  using Compute = typename Stored<T>::Compute;
  if (max_norm <= 0) return 1;
  Compute sum = 0;
  for (int64_t j = 0; j < dim; ++j) {
    const Compute x = Stored<T>::Load(row[j]);
    sum += x * x;
  }
  const Compute norm = sqrt(sum), most = Compute(max_norm);
  return norm > most ? most / norm : Compute(1);
}

// sum[k] += factor * row[k] for k < width; a width that is known is a few vector operations.
template <class T, class Compute>
inline void AddRow(const T* row, Compute factor, int64_t width, Compute* sum) {
  for (int64_t k = 0; k < width; ++k) sum[k] += factor * Stored<T>::Load(row[k]);
}

template <class T>
void CombineRowsOf(const Entries& entries, int64_t begin, int64_t end, const void* const* found, int64_t dim,
                   double max_norm, T* out) {
  using Compute = typename Stored<T>::Compute;
  for (int64_t first = begin; first < end;) {
    int64_t last = first + 1;
    while (last < end && entries.rows[last] == entries.rows[first]) ++last;
    T* const to = out + entries.rows[first] * dim;
    // Most columns have one id in a row.
    if (last == first + 1 && entries.factors[first] == 1 && max_norm <= 0) {
      memcpy(to, found[first - begin], dim * sizeof(T));
      first = last;
      continue;
    }
    for (int64_t j = 0; j < dim; j += kBlock) {
      const int64_t width = std::min(kBlock, dim - j);
      Compute sum[kBlock];
      std::fill_n(sum, width, Compute(0));
      for (int64_t i = first; i < last; ++i) {
        const T* const row = static_cast<const T*>(found[i - begin]);
        const Compute factor = Compute(entries.factors[i]) * ClipFactor(row, dim, max_norm);
        if (width == 16) {
          AddRow(row + j, factor, 16, sum);
        } else {
          AddRow(row + j, factor, width, sum);
        }
      }
      for (int64_t k = 0; k < width; ++k) to[j + k] = Stored<T>::Store(sum[k]);
    }
    first = last;
  }
}

template <class T>
void RowGradientsOf(const Entries& entries, int64_t begin, int64_t end, const void* const* found, int64_t dim,
                    double max_norm, const T* grad, T* gradients) {
  using Compute = typename Stored<T>::Compute;
  for (int64_t i = begin; i < end; ++i) {
    const T* const g = grad + entries.rows[i] * dim;
    T* const to = gradients + (i - begin) * dim;
    const Compute factor = Compute(entries.factors[i]);
    if (factor == 1 && max_norm <= 0) {
      memcpy(to, g, dim * sizeof(T));
      continue;
    }
    const T* const row = max_norm > 0 ? static_cast<const T*>(found[i - begin]) : nullptr;
    const Compute clip = row == nullptr ? Compute(1) : ClipFactor(row, dim, max_norm);
    // A row on or within the sphere is not scaled.
    if (clip == 1) {
      for (int64_t j = 0; j < dim; ++j) to[j] = Stored<T>::Store(factor * Stored<T>::Load(g[j]));
      continue;
    }
    // y = c x / |x|, so dL/dx = c / |x| (g - x (x . g) / |x|^2).
    Compute dot = 0, squares = 0;
    for (int64_t j = 0; j < dim; ++j) {
      const Compute x = Stored<T>::Load(row[j]);
      dot += x * Stored<T>::Load(g[j]);
      squares += x * x;
    }
    for (int64_t j = 0; j < dim; ++j) {
      to[j] = Stored<T>::Store(factor * clip * (Stored<T>::Load(g[j]) - Stored<T>::Load(row[j]) * dot / squares));
    }
  }
}

// Turns weights of the entries of one output row into factors.
void Normalize(Combiner combiner, std::vector<float>* factors, size_t begin) {
  if (combiner == Combiner::kSum || begin == factors->size()) return;
  double sum = 0;
  for (size_t i = begin; i < factors->size(); ++i) {
    const double w = (*factors)[i];
    sum += combiner == Combiner::kMean ? w : w * w;
  }
  const double divisor = combiner == Combiner::kMean ? sum : sqrt(sum);
  // As the division of the composed lookup: a row of zero weights is 0.
  for (size_t i = begin; i < factors->size(); ++i) {
    (*factors)[i] = divisor == 0 ? 0.0f : float((*factors)[i] / divisor);
  }
}

// Rows [begin, end) have no entries.
void AddEmptyRows(const CombineRule& rule, int64_t begin, int64_t end, Entries* entries) {
  for (int64_t row = begin; row < end; ++row) {
    if (!rule.fill_empty) {
      entries->empty_rows.push_back(row);
      continue;
    }
    entries->keys.push_back(rule.fill_key);
    entries->rows.push_back(row);
    entries->factors.push_back(1);
    entries->positions.push_back(-1);
  }
}

}  // namespace

std::string PrepareEntries(const SparseKeys& sparse, const CombineRule& rule, Entries* entries) {
  const int rank = sparse.rank;
  int64_t num_rows = 1;
  for (int d = 0; d + 1 < rank; ++d) {
    if (sparse.shape[d] < 0 || (sparse.shape[d] > 0 && num_rows > INT64_MAX / sparse.shape[d])) {
      return "dense_shape[" + std::to_string(d) + "] is out of range: " + std::to_string(sparse.shape[d]);
    }
    num_rows *= sparse.shape[d];
  }
  entries->num_rows = num_rows;
  const size_t most = size_t(sparse.n) + (rule.fill_empty ? size_t(num_rows) : 0);
  for (auto* const list : {&entries->keys, &entries->rows, &entries->positions}) list->reserve(most);
  entries->factors.reserve(most);
  const bool normalizes = rule.combiner != Combiner::kSum;
  int64_t row_before = -1, next_row = 0;
  size_t row_begin = 0;
  // Of a row with one entry of weight 1, the factor is 1 whatever the combiner.
  const auto end_row = [&] {
    if (normalizes && (entries->factors.size() - row_begin > 1 || sparse.weights != nullptr)) {
      Normalize(rule.combiner, &entries->factors, row_begin);
    }
    row_begin = entries->factors.size();
  };
  for (int64_t i = 0; i < sparse.n; ++i) {
    int64_t row = 0;
    for (int d = 0; d + 1 < rank; ++d) {
      const int64_t index = sparse.indices[i * rank + d];
      if (uint64_t(index) >= uint64_t(sparse.shape[d])) {
        return "indices[" + std::to_string(i) + "," + std::to_string(d) + "] = " + std::to_string(index) +
               " is not in [0, " + std::to_string(sparse.shape[d]) + ")";
      }
      row = row * sparse.shape[d] + index;
    }
    if (row != row_before) {
      if (row < row_before) {
        return "indices must be in row-major order, but indices[" + std::to_string(i) + "] is of row " +
               std::to_string(row) + " after row " + std::to_string(row_before);
      }
      end_row();
      row_before = row;
    }
    const float weight = sparse.weights == nullptr ? 1.0f : sparse.weights[i];
    if (rule.prune && (sparse.keys[i] < 0 || (normalizes && !(weight > 0)))) continue;
    if (next_row <= row) {
      AddEmptyRows(rule, next_row, row, entries);
      next_row = row + 1;
      row_begin = entries->factors.size();
    }
    entries->keys.push_back(sparse.keys[i]);
    entries->rows.push_back(row);
    entries->factors.push_back(weight);
    entries->positions.push_back(i);
  }
  end_row();
  AddEmptyRows(rule, next_row, num_rows, entries);
  return "";
}

void CombineRows(ElementType type, const Entries& entries, int64_t begin, int64_t end, const void* const* found, int64_t dim,
                 double max_norm, void* out) {
  ForType(type, [&](auto element) {
    CombineRowsOf(entries, begin, end, found, dim, max_norm, static_cast<decltype(element)*>(out));
  });
}

void RowGradients(ElementType type, const Entries& entries, int64_t begin, int64_t end, const void* const* found, int64_t dim,
                  double max_norm, const void* grad, void* gradients) {
  ForType(type, [&](auto element) {
    using T = decltype(element);
    RowGradientsOf(entries, begin, end, found, dim, max_norm, static_cast<const T*>(grad), static_cast<T*>(gradients));
  });
}

void WeightGradients(ElementType type, const Entries& entries, const SparseKeys& sparse, const CombineRule& rule, int64_t begin,
                     int64_t end, const void* const* found, int64_t dim, const void* grad, float* weights_grad) {
  std::vector<double> products;  // of the clipped row of an entry with the gradient of its output row
  for (int64_t first = begin; first < end;) {
    int64_t last = first + 1;
    while (last < end && entries.rows[last] == entries.rows[first]) ++last;
    products.assign(last - first, 0);
    ForType(type, [&](auto element) {
      using T = decltype(element);
      const T* const g = static_cast<const T*>(grad) + entries.rows[first] * dim;
      for (int64_t i = first; i < last; ++i) {
        const T* const row = static_cast<const T*>(found[i - begin]);
        double sum = 0;
        for (int64_t j = 0; j < dim; ++j) sum += double(Stored<T>::Load(row[j])) * double(Stored<T>::Load(g[j]));
        products[i - first] = sum * ClipFactor(row, dim, rule.max_norm);
      }
    });
    // Sum: p. Mean: (p - mean of p by the factors) / sum(w). Sqrtn: (p - f sum(f p)) / sqrt(sum(w^2)).
    double weights = 0, squares = 0, weighted = 0;
    for (int64_t i = first; i < last; ++i) {
      if (entries.positions[i] < 0) continue;
      const double w = sparse.weights == nullptr ? 1 : sparse.weights[entries.positions[i]];
      weights += w;
      squares += w * w;
      weighted += entries.factors[i] * products[i - first];
    }
    for (int64_t i = first; i < last; ++i) {
      if (entries.positions[i] < 0) continue;
      double g = products[i - first];
      if (rule.combiner == Combiner::kMean) g = weights == 0 ? 0 : (g - weighted) / weights;
      if (rule.combiner == Combiner::kSqrtN) g = squares == 0 ? 0 : (g - entries.factors[i] * weighted) / sqrt(squares);
      weights_grad[entries.positions[i]] = float(g);
    }
    first = last;
  }
}

int64_t RowStart(const Entries& entries, int64_t entry) {
  const int64_t n = int64_t(entries.rows.size());
  while (entry > 0 && entry < n && entries.rows[entry] == entries.rows[entry - 1]) ++entry;
  return std::min(entry, n);
}

}  // namespace sparse
}  // namespace deeprec
