#ifndef TENSORFLOW_CORE_CONTRIB_CONNECTED_COMPONENTS_H_
#define TENSORFLOW_CORE_CONTRIB_CONNECTED_COMPONENTS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace deeprec {
namespace contrib {

// Labels the connected regions of equal, non-zero pixels of one image. Neighbours lie above, below,
// left, right. A label is 1 + first_pixel + the index of the region's first pixel in row-major
// order; zero pixels get 0. `T()` is zero, so the empty string is for strings.
template <class T>
void ConnectedComponents(const T* image, int64_t height, int64_t width, int64_t first_pixel,
                         int64_t* labels) {
  const int64_t pixels = height * width;
  std::vector<int64_t> parent(pixels);
  // The root of a region is its least pixel; paths are halved on the way.
  auto root = [&parent](int64_t pixel) {
    while (parent[pixel] != pixel) pixel = parent[pixel] = parent[parent[pixel]];
    return pixel;
  };
  auto join = [&](int64_t a, int64_t b) {
    a = root(a);
    b = root(b);
    if (a > b) std::swap(a, b);
    parent[b] = a;
  };
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    parent[pixel] = pixel;
    if (pixel % width > 0 && image[pixel] == image[pixel - 1]) join(pixel, pixel - 1);
    if (pixel >= width && image[pixel] == image[pixel - width]) join(pixel, pixel - width);
  }
  const T zero = T();
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    labels[pixel] = image[pixel] == zero ? 0 : 1 + first_pixel + root(pixel);
  }
}

}  // namespace contrib
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_CONTRIB_CONNECTED_COMPONENTS_H_
