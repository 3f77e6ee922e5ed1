#include "tensorflow/core/nn/slice_region.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace deeprec {
namespace nn {
namespace {

TEST(SliceRegionTest, RandomBoxesAreFilledElementByElement) {
  std::mt19937 engine(5);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<SliceDimension> dimensions(1 + engine() % 4);
    int64_t size = 1, count = 1;
    for (SliceDimension& d : dimensions) {
      d.size = 1 + engine() % 5;
      if (engine() % 3 == 0) {
        d = {d.size, 0, 1, d.size};
      } else {
        d.begin = engine() % d.size;
        d.stride = static_cast<int64_t>(engine() % 3) + 1;
        if (engine() % 2) d.stride = -d.stride;
        const int64_t most = d.stride > 0 ? (d.size - 1 - d.begin) / d.stride + 1 : d.begin / -d.stride + 1;
        d.count = 1 + engine() % most;
      }
      size *= d.size;
      count *= d.count;
    }
    std::vector<int16_t> from(count), expected(size, 0), to(size, -1);
    for (int16_t& x : from) x = static_cast<int16_t>(engine() % 1000 + 1);
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, at = 0, scale = 1;
      for (size_t d = dimensions.size(); d-- > 0;) {
        at += (dimensions[d].begin + rest % dimensions[d].count * dimensions[d].stride) * scale;
        rest /= dimensions[d].count;
        scale *= dimensions[d].size;
      }
      expected[at] = from[i];
    }
    const SliceRegion region(dimensions, sizeof(int16_t));
    ASSERT_EQ(region.rows() * region.row_bytes(), size * static_cast<int64_t>(sizeof(int16_t)));
    const int64_t middle = region.rows() / 2;
    region.Fill(reinterpret_cast<const char*>(from.data()), 0, middle, reinterpret_cast<char*>(to.data()));
    region.Fill(reinterpret_cast<const char*>(from.data()), middle, region.rows(), reinterpret_cast<char*>(to.data()));
    EXPECT_EQ(to, expected) << "trial " << trial;
  }
}

}  // namespace
}  // namespace nn
}  // namespace deeprec
