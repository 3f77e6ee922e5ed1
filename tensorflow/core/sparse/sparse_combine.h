// Sparse lookups that combine: what one column of a SparseTensor of keys becomes, forward and backward.
//
// A lookup takes three steps. PrepareEntries turns the SparseTensor into entries, each a key, the output row it belongs to and
// the factor its row is taken with; pruned ones are left out, and the factor has the combiner's normalization in it. The caller
// finds the rows of the keys. CombineRows adds them up. Backward, RowGradients gives each entry its share of the gradient of
// its output row.
//
// With w the weights of the entries of an output row, the factors are w for the sum, w / sum(w) for the mean, and
// w / sqrt(sum(w^2)) for sqrtn.

#ifndef TENSORFLOW_CORE_SPARSE_SPARSE_COMBINE_H_
#define TENSORFLOW_CORE_SPARSE_SPARSE_COMBINE_H_

#include <stdint.h>

#include <string>
#include <vector>

#include "tensorflow/core/sparse/element_types.h"

namespace deeprec {
namespace sparse {

enum class Combiner { kSum, kMean, kSqrtN };

struct SparseKeys {
  const int64_t* indices = nullptr;  // [n, rank], in row-major order
  const int64_t* keys = nullptr;     // [n]
  const float* weights = nullptr;    // [n]; null: 1
  int64_t n = 0;
  const int64_t* shape = nullptr;  // [rank]: the last dimension is combined, the product of the others are output rows
  int rank = 2;
};

struct CombineRule {
  Combiner combiner = Combiner::kMean;
  // Leaves out keys below 0 and, unless the combiner is kSum, weights that are not positive.
  bool prune = false;
  double max_norm = 0;  // rows with a greater L2 norm are scaled to it; 0: none are
  // Output rows without entries get one of this key, with factor 1 and position -1.
  bool fill_empty = false;
  int64_t fill_key = 0;
};

struct Entries {
  std::vector<int64_t> keys;
  std::vector<int64_t> rows;  // ascending
  std::vector<float> factors;
  std::vector<int64_t> positions;  // in the SparseTensor
  int64_t num_rows = 0;
  std::vector<int64_t> empty_rows;  // rows without entries, ascending; none if they are filled
};

// Returns what is wrong with the SparseTensor, or an empty string.
std::string PrepareEntries(const SparseKeys& sparse, const CombineRule& rule, Entries* entries);

// out[rows[i]] += factors[i] * clipped(*found[i]) for entries [begin, end), which must hold all entries of their output rows;
// these rows of `out`, [num_rows, dim], are set, not added to.
void CombineRows(ElementType type, const Entries& entries, int64_t begin, int64_t end, const void* const* found, int64_t dim,
                 double max_norm, void* out);

// gradients[i] = d(out[rows[i]]) / d(row of entry i) * grad[rows[i]], for entries [begin, end). `found` is needed, and looked
// at, only with a max_norm. grad: [num_rows, dim]; gradients: [end - begin, dim].
void RowGradients(ElementType type, const Entries& entries, int64_t begin, int64_t end, const void* const* found, int64_t dim,
                  double max_norm, const void* grad, void* gradients);

// weights_grad[i] = d(sum of out * grad) / d(weight of entry i), by positions: those of pruned entries are left as they are.
void WeightGradients(ElementType type, const Entries& entries, const SparseKeys& sparse, const CombineRule& rule, int64_t begin,
                     int64_t end, const void* const* found, int64_t dim, const void* grad, float* weights_grad);

// The first entry at or after `entry` that begins an output row.
int64_t RowStart(const Entries& entries, int64_t entry);

}  // namespace sparse
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_SPARSE_SPARSE_COMBINE_H_
