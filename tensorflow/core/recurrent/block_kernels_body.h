// The loops over rows, compiled once per instruction set. Each block_kernels_<isa>.cc defines DEEPREC_BLOCK_KERNELS (the name of
// its table) and includes this file; nothing else may. Everything is in an anonymous namespace: no weak symbol is left.

#ifndef DEEPREC_BLOCK_KERNELS
#error "define DEEPREC_BLOCK_KERNELS before including this file"
#endif

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "tensorflow/core/recurrent/block_kernels.h"

namespace deeprec {
namespace recurrent {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kWidth = 16;
constexpr int kRowsAtOnce = 8, kVectorsAtOnce = 3;  // of 32 registers, 24 sum
#elif defined(__AVX2__)
constexpr int64_t kWidth = 8;
constexpr int kRowsAtOnce = 4, kVectorsAtOnce = 2;  // of 16 registers, 8 sum
#else
constexpr int64_t kWidth = 4;  // of the compiler's own making
constexpr int kRowsAtOnce = 4, kVectorsAtOnce = 2;
#endif

typedef float V __attribute__((vector_size(kWidth * 4)));
typedef int32_t I __attribute__((vector_size(kWidth * 4)));

inline V Load(const float* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline void Store(float* p, V v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline V All(float x) { return x - V{}; }

// The first n < kWidth numbers; the rest of a loaded vector is zero.
#if defined(__AVX512F__)
inline V LoadPart(const float* p, int64_t n) { return (V)_mm512_maskz_loadu_ps(__mmask16((1u << n) - 1), p); }
inline void StorePart(float* p, V v, int64_t n) { _mm512_mask_storeu_ps(p, __mmask16((1u << n) - 1), (__m512)v); }
#elif defined(__AVX2__)
inline __m256i First(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(int(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline V LoadPart(const float* p, int64_t n) { return (V)_mm256_maskload_ps(p, First(n)); }
inline void StorePart(float* p, V v, int64_t n) { _mm256_maskstore_ps(p, First(n), (__m256)v); }
#else
inline V LoadPart(const float* p, int64_t n) {
  V v = {};
  for (int64_t i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
inline void StorePart(float* p, V v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) p[i] = v[i];
}
#endif

inline V LoadUpTo(const float* p, int64_t n) { return n >= kWidth ? Load(p) : LoadPart(p, n); }
inline void StoreUpTo(float* p, V v, int64_t n) { n >= kWidth ? Store(p, v) : StorePart(p, v, n); }

// The loops below must be unrolled entirely: an array that is indexed by a variable once is kept in memory throughout.
#define DEEPREC_UNROLL _Pragma("GCC unroll 16")

// The sums of a tile go on over all of k. kPart: of the last vector of b only `part` numbers exist.
template <int kM, int kN, bool kPart>
inline void AddProducts(const Product& p, const float* a, const float* b, int64_t part, V (&sum)[kM][kN]) {
  for (int64_t l = 0; l < p.k; ++l, a += p.a_column, b += p.b_row) {
    V right[kN];
    DEEPREC_UNROLL
    for (int j = 0; j < kN; ++j) right[j] = kPart && j == kN - 1 ? LoadPart(b + j * kWidth, part) : Load(b + j * kWidth);
    DEEPREC_UNROLL
    for (int i = 0; i < kM; ++i) {
      const V left = All(a[i * p.a_row]);
      DEEPREC_UNROLL
      for (int j = 0; j < kN; ++j) sum[i][j] += left * right[j];
    }
  }
}

// c of kM rows and kN vectors is summed in registers; of the last vector only `part` numbers exist (kWidth: all).
template <int kM, int kN>
inline void MultiplyTile(const Product& p, int64_t row, int64_t column, int64_t part) {
  const float* a = p.a + row * p.a_row;
  const float* b = p.b + column;
  float* c = p.c + row * p.c_row + column;
  constexpr int kLast = kN - 1;
  V sum[kM][kN];
  DEEPREC_UNROLL
  for (int i = 0; i < kM; ++i) {
    DEEPREC_UNROLL
    for (int j = 0; j < kN; ++j) sum[i][j] = V{};
  }
  if (part == kWidth) {
    AddProducts<kM, kN, false>(p, a, b, part, sum);
  } else {
    AddProducts<kM, kN, true>(p, a, b, part, sum);
  }
  DEEPREC_UNROLL
  for (int i = 0; i < kM; ++i) {
    float* const to = c + i * p.c_row;
    DEEPREC_UNROLL
    for (int j = 0; j < kN; ++j) {
      const int64_t n = j == kLast ? part : kWidth;
      const V before = p.add ? LoadUpTo(to + j * kWidth, n) : V{};
      StoreUpTo(to + j * kWidth, before + sum[i][j], n);
    }
  }
}

template <int kM>
inline void MultiplyRows(const Product& p, int64_t row) {
  for (int64_t column = 0; column < p.n;) {
    const int64_t left = p.n - column;
    const int64_t vectors = (left + kWidth - 1) / kWidth;
    const int64_t now = vectors < kVectorsAtOnce ? vectors : kVectorsAtOnce;
    const int64_t end = now * kWidth;
    const int64_t part = left < end ? left - (now - 1) * kWidth : kWidth;
    if (now == 1) {
      MultiplyTile<kM, 1>(p, row, column, part);
    } else if (now == 2) {
      MultiplyTile<kM, 2>(p, row, column, part);
    } else {
      MultiplyTile<kM, kVectorsAtOnce>(p, row, column, part);
    }
    column += end;
  }
}

void Multiply(const Product& p) {
  int64_t row = 0;
  for (; row + kRowsAtOnce <= p.m; row += kRowsAtOnce) MultiplyRows<kRowsAtOnce>(p, row);
  for (; row + 2 <= p.m; row += 2) MultiplyRows<2>(p, row);
  if (row < p.m) MultiplyRows<1>(p, row);
}

// e^x to about 1 ulp: 2^n e^r with |r| <= ln 2 / 2, and e^r by its series to r^7. Beyond +-87.3 it is that of +-87.3: neither
// zero nor infinite, which the functions below round away.
inline V Exp(V x) {
  x = x > 87.3f ? All(87.3f) : x;
  x = x < -87.3f ? All(-87.3f) : x;
  const float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = x * 1.44269504f + kMagic;
  const V n = shifted - kMagic;
  // ln 2 in two parts, of which the first has few bits.
  const V r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  V e = All(1.0f / 5040);
  e = e * r + 1.0f / 720;
  e = e * r + 1.0f / 120;
  e = e * r + 1.0f / 24;
  e = e * r + 1.0f / 6;
  e = e * r + 0.5f;
  e = e * r + 1.0f;
  e = e * r + 1.0f;
  const I exponent = ((I)shifted - (I)All(kMagic)) << 23;
  return (V)((I)e + exponent);
}

struct Sigmoid {
  static V Of(V x) { return 1.0f / (1.0f + Exp(-x)); }
  static V Slope(V y) { return y * (1.0f - y); }
};

struct Tanh {
  // Near 0 by an odd polynomial, the minimax one of degree 11 of the Cephes library's tanhf: the quotient would lose the bits.
  static V Of(V x) {
    const V z = x * x;
    V p = z * -5.70498872745e-3f + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    const V small = p * z * x + x;
    const V large = 1.0f - 2.0f / (Exp(x + x) + 1.0f);
    return z < 0.625f * 0.625f ? small : large;
  }
  static V Slope(V y) { return 1.0f - y * y; }
};

struct Relu {
  static V Of(V x) { return x < 0.0f ? V{} : x; }  // of NaN: NaN
  static V Slope(V y) { return y > 0.0f ? All(1.0f) : V{}; }
};

template <class F>
void Apply(Rows x, Rows y, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* from = x.data + i * x.stride;
    float* to = y.data + i * y.stride;
    for (int64_t j = 0; j < width; j += kWidth) StoreUpTo(to + j, F::Of(LoadUpTo(from + j, width - j)), width - j);
  }
}

template <class F>
void ApplyGradient(Rows y, Rows dy, Rows dx, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    const float *of = y.data + i * y.stride, *from = dy.data + i * dy.stride;
    float* to = dx.data + i * dx.stride;
    for (int64_t j = 0; j < width; j += kWidth) {
      const int64_t left = width - j;
      const V slope = F::Slope(LoadUpTo(of + j, left));
      StoreUpTo(to + j, LoadUpTo(to + j, left) + LoadUpTo(from + j, left) * slope, left);
    }
  }
}

void Affine(Rows x, float scale, float offset, Rows y, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* from = x.data + i * x.stride;
    float* to = y.data + i * y.stride;
    for (int64_t j = 0; j < width; j += kWidth) {
      StoreUpTo(to + j, LoadUpTo(from + j, width - j) * scale + offset, width - j);
    }
  }
}

struct Add {
  static V Of(V a, V b) { return a + b; }
};
struct Subtract {
  static V Of(V a, V b) { return a - b; }
};
struct Times {
  static V Of(V a, V b) { return a * b; }
};

inline V Take(const Operand& a, const float* row, int64_t j, int64_t left) {
  return a.step == 0 ? All(*row) : LoadUpTo(row + j, left);
}

template <class F>
void Binary(Operand a, Operand b, Rows y, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    const float *left = a.data + i * a.stride, *right = b.data + i * b.stride;
    float* to = y.data + i * y.stride;
    for (int64_t j = 0; j < width; j += kWidth) {
      const int64_t n = width - j;
      StoreUpTo(to + j, F::Of(Take(a, left, j, n), Take(b, right, j, n)), n);
    }
  }
}

void Accumulate(Operand a, const Operand* b, float scale, Rows y, bool to_column, int64_t rows, int64_t width) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* left = a.data + i * a.stride;
    const float* right = b ? b->data + i * b->stride : nullptr;
    float* to = y.data + i * y.stride;
    V sum = {};
    for (int64_t j = 0; j < width; j += kWidth) {
      const int64_t n = width - j;
      const V value = Take(a, left, j, n) * (b ? Take(*b, right, j, n) : All(scale));
      if (!to_column) {
        StoreUpTo(to + j, LoadUpTo(to + j, n) + value, n);
      } else if (n >= kWidth) {
        sum += value;
      } else {
        // A number that counts for the whole row fills the vector beyond its end.
        for (int64_t l = 0; l < n; ++l) sum[l] += value[l];
      }
    }
    if (to_column) {
      for (int64_t l = 0; l < kWidth; ++l) *to += sum[l];
    }
  }
}

}  // namespace

extern const KernelTable DEEPREC_BLOCK_KERNELS = {
    Multiply,
    {Apply<Sigmoid>, Apply<Tanh>, Apply<Relu>},
    {ApplyGradient<Sigmoid>, ApplyGradient<Tanh>, ApplyGradient<Relu>},
    Affine,
    {Binary<Add>, Binary<Subtract>, Binary<Times>},
    Accumulate,
};

}  // namespace recurrent
}  // namespace deeprec
