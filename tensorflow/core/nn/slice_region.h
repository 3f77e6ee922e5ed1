// A box of a dense tensor, filled with the elements of another tensor and zero around: the gradient of a strided slice.

#ifndef TENSORFLOW_CORE_NN_SLICE_REGION_H_
#define TENSORFLOW_CORE_NN_SLICE_REGION_H_

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace deeprec {
namespace nn {

// Of one dimension: elements begin, begin + stride, ... (count of them; stride may be negative, not 0) of `size`.
struct SliceDimension {
  int64_t size, begin, stride, count;
  bool whole() const { return begin == 0 && stride == 1 && count == size; }
};

// The box in bytes of rows: the last dimensions that are whole, and one more, are contiguous.
class SliceRegion {
 public:
  // `element_size`: bytes. Dimensions outermost first, none empty.
  SliceRegion(std::vector<SliceDimension> dimensions, int64_t element_size) : inner_(element_size) {
    while (!dimensions.empty() && dimensions.back().whole()) {
      inner_ *= dimensions.back().size;
      dimensions.pop_back();
    }
    if (dimensions.empty()) dimensions.push_back({1, 0, 1, 1});
    dimensions_ = std::move(dimensions);
    sizes_.resize(dimensions_.size());
    counts_.resize(dimensions_.size());
    int64_t size = inner_, count = inner_;
    for (size_t d = dimensions_.size(); d-- > 0;) {
      sizes_[d] = size;
      counts_[d] = count;
      size *= dimensions_[d].size;
      count *= dimensions_[d].count;
    }
  }

  // Rows: elements of the first dimension; each is so many bytes of the tensor.
  int64_t rows() const { return dimensions_[0].size; }
  int64_t row_bytes() const { return sizes_[0]; }

  // Writes rows [begin, end) of `to`, from all of `from`.
  void Fill(const char* from, int64_t begin, int64_t end, char* to) const { FillRows(0, from, begin, end, to + begin * sizes_[0]); }

 private:
  // `to` is where row `begin` lies, `from` where the slice of all rows of this dimension does.
  void FillRows(size_t d, const char* from, int64_t begin, int64_t end, char* to) const {
    const SliceDimension& dimension = dimensions_[d];
    const bool last = d + 1 == dimensions_.size();
    if (last && dimension.stride == 1) {
      const int64_t first = Clamp(dimension.begin, begin, end), behind = Clamp(dimension.begin + dimension.count, begin, end);
      std::memset(to, 0, (first - begin) * inner_);
      if (behind > first) std::memcpy(to + (first - begin) * inner_, from + (first - dimension.begin) * inner_, (behind - first) * inner_);
      std::memset(to + (behind - begin) * inner_, 0, (end - behind) * inner_);
      return;
    }
    for (int64_t i = begin; i < end; ++i, to += sizes_[d]) {
      const int64_t offset = i - dimension.begin, nth = offset / dimension.stride;
      if (offset % dimension.stride != 0 || nth < 0 || nth >= dimension.count) {
        std::memset(to, 0, sizes_[d]);
      } else if (last) {
        std::memcpy(to, from + nth * counts_[d], inner_);
      } else {
        FillRows(d + 1, from + nth * counts_[d], 0, dimensions_[d + 1].size, to);
      }
    }
  }

  static int64_t Clamp(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

  int64_t inner_;
  std::vector<SliceDimension> dimensions_;
  std::vector<int64_t> sizes_, counts_;  // bytes of an element of a dimension, of the tensor and of the slice
};

}  // namespace nn
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_NN_SLICE_REGION_H_
