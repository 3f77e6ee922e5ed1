#ifndef TENSORFLOW_CORE_CONTRIB_RESAMPLER_H_
#define TENSORFLOW_CORE_CONTRIB_RESAMPLER_H_

#include <cmath>
#include <cstdint>

namespace deeprec {
namespace contrib {

// Size of one image, [height, width, channels] in row-major order.
struct ImageSize {
  int64_t height, width, channels;
};

// The four pixels around a point (x, y) and their shares. A pixel outside of the image counts as
// zero; a point at or beyond distance 1 from the image has no share of anything (`inside` is
// false), nor has one that is not a number.
template <class T>
struct Corners {
  Corners(const ImageSize& size, T x_in, T y_in) {
    const double x = static_cast<double>(x_in), y = static_cast<double>(y_in);
    inside = x > -1 && y > -1 && x < static_cast<double>(size.width) &&
             y < static_cast<double>(size.height);
    if (!inside) return;
    x0 = static_cast<int64_t>(std::floor(x));
    y0 = static_cast<int64_t>(std::floor(y));
    // Shares of the pixel at the lower coordinate.
    left = static_cast<T>(static_cast<double>(x0 + 1) - x);
    top = static_cast<T>(static_cast<double>(y0 + 1) - y);
  }
  // Offset of pixel (x0 + dx, y0 + dy), or -1 outside of the image.
  int64_t Offset(const ImageSize& size, int dx, int dy) const {
    const int64_t x = x0 + dx, y = y0 + dy;
    if (x < 0 || y < 0 || x >= size.width || y >= size.height) return -1;
    return (y * size.width + x) * size.channels;
  }
  T Share(int dx, int dy) const { return (dx ? T(1) - left : left) * (dy ? T(1) - top : top); }

  bool inside;
  int64_t x0 = 0, y0 = 0;
  T left = T(0), top = T(0);
};

// Bilinear samples of one image: warp is [points, 2] of (x, y), output [points, channels].
template <class T>
void Resample(const T* image, const ImageSize& size, const T* warp, int64_t points, T* output) {
  for (int64_t p = 0; p < points; ++p, warp += 2, output += size.channels) {
    const Corners<T> corners(size, warp[0], warp[1]);
    for (int64_t c = 0; c < size.channels; ++c) output[c] = T(0);
    if (!corners.inside) continue;
    for (int corner = 0; corner < 4; ++corner) {
      const int dx = corner & 1, dy = corner >> 1;
      const int64_t offset = corners.Offset(size, dx, dy);
      if (offset < 0) continue;
      const T share = corners.Share(dx, dy);
      for (int64_t c = 0; c < size.channels; ++c) output[c] += share * image[offset + c];
    }
  }
}

// Gradients of Resample; adds to grad_image [height, width, channels] and grad_warp [points, 2].
template <class T>
void ResampleGradient(const T* image, const ImageSize& size, const T* warp, const T* grad_output,
                      int64_t points, T* grad_image, T* grad_warp) {
  for (int64_t p = 0; p < points; ++p, warp += 2, grad_output += size.channels, grad_warp += 2) {
    const Corners<T> corners(size, warp[0], warp[1]);
    if (!corners.inside) continue;
    for (int corner = 0; corner < 4; ++corner) {
      const int dx = corner & 1, dy = corner >> 1;
      const int64_t offset = corners.Offset(size, dx, dy);
      if (offset < 0) continue;
      const T share = corners.Share(dx, dy);
      const T share_x = dx ? T(1) - corners.left : corners.left;
      const T share_y = dy ? T(1) - corners.top : corners.top;
      const T sign_x = dx ? T(1) : T(-1), sign_y = dy ? T(1) : T(-1);
      for (int64_t c = 0; c < size.channels; ++c) {
        grad_image[offset + c] += share * grad_output[c];
        grad_warp[0] += sign_x * share_y * image[offset + c] * grad_output[c];
        grad_warp[1] += sign_y * share_x * image[offset + c] * grad_output[c];
      }
    }
  }
}

}  // namespace contrib
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_CONTRIB_RESAMPLER_H_
