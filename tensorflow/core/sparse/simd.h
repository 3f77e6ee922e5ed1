// The vectors the row loops work on. Included by row_update_body.h inside its anonymous namespace, once per
// instruction set; a scalar build has vectors of one element.
//
// GCC's vector types give the arithmetic (+ - * / < ?:), so the formulas read the same in all builds. What
// is left to say here: width, square root, power, and memory access with conversion from the storage type.
// LoadPart and StorePart touch only the first n < kWidth elements; the rest of a loaded vector is zero.

inline float Sqrt(float x) { return __builtin_sqrtf(x); }
inline double Sqrt(double x) { return __builtin_sqrt(x); }
inline float Pow(float x, float y) { return __builtin_powf(x, y); }
inline double Pow(double x, double y) { return __builtin_pow(x, y); }

#if defined(__AVX512F__)
constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr size_t kVectorBytes = 32;
#else
constexpr size_t kVectorBytes = 0;
#endif

#if defined(__AVX2__)

typedef float FloatV __attribute__((vector_size(kVectorBytes)));
typedef double DoubleV __attribute__((vector_size(kVectorBytes)));
typedef uint32_t WordV __attribute__((vector_size(kVectorBytes)));

#if defined(__AVX512F__)

inline FloatV Sqrt(FloatV x) { return (FloatV)_mm512_sqrt_ps((__m512)x); }
inline DoubleV Sqrt(DoubleV x) { return (DoubleV)_mm512_sqrt_pd((__m512d)x); }

inline __mmask16 FirstOf(size_t n) { return __mmask16((1u << n) - 1); }

inline FloatV LoadPart(const float* p, size_t n) {
  return (FloatV)_mm512_maskz_loadu_ps(FirstOf(n), p);
}
inline DoubleV LoadPart(const double* p, size_t n) {
  return (DoubleV)_mm512_maskz_loadu_pd(__mmask8(FirstOf(n)), p);
}
inline void StorePart(float* p, FloatV v, size_t n) {
  _mm512_mask_storeu_ps(p, FirstOf(n), (__m512)v);
}
inline void StorePart(double* p, DoubleV v, size_t n) {
  _mm512_mask_storeu_pd(p, __mmask8(FirstOf(n)), (__m512d)v);
}

// Sixteen 16-bit values.
typedef __m256i ShortV;
inline ShortV LoadShorts(const void* p) { return _mm256_loadu_si256((const __m256i*)p); }
inline ShortV LoadShortsPart(const void* p, size_t n) {
  return _mm256_maskz_loadu_epi16(FirstOf(n), p);
}
inline void StoreShorts(void* p, ShortV v) { _mm256_storeu_si256((__m256i*)p, v); }
inline void StoreShortsPart(void* p, ShortV v, size_t n) {
  _mm256_mask_storeu_epi16(p, FirstOf(n), v);
}
inline FloatV FromHalves(ShortV v) { return (FloatV)_mm512_cvtph_ps(v); }
inline ShortV ToHalves(FloatV v) {
  return _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline WordV WidenShorts(ShortV v) { return (WordV)_mm512_cvtepu16_epi32(v); }
inline ShortV NarrowWords(WordV v) { return _mm512_cvtepi32_epi16((__m512i)v); }

#else  // AVX2

inline FloatV Sqrt(FloatV x) { return (FloatV)_mm256_sqrt_ps((__m256)x); }
inline DoubleV Sqrt(DoubleV x) { return (DoubleV)_mm256_sqrt_pd((__m256d)x); }

inline __m256i FirstWords(size_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(int(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256i FirstDoubleWords(size_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(int64_t(n)), _mm256_setr_epi64x(0, 1, 2, 3));
}

inline FloatV LoadPart(const float* p, size_t n) {
  return (FloatV)_mm256_maskload_ps(p, FirstWords(n));
}
inline DoubleV LoadPart(const double* p, size_t n) {
  return (DoubleV)_mm256_maskload_pd(p, FirstDoubleWords(n));
}
inline void StorePart(float* p, FloatV v, size_t n) {
  _mm256_maskstore_ps(p, FirstWords(n), (__m256)v);
}
inline void StorePart(double* p, DoubleV v, size_t n) {
  _mm256_maskstore_pd(p, FirstDoubleWords(n), (__m256d)v);
}

// Eight 16-bit values.
typedef __m128i ShortV;
inline ShortV LoadShorts(const void* p) { return _mm_loadu_si128((const __m128i*)p); }
inline ShortV LoadShortsPart(const void* p, size_t n) {
  uint16_t part[8] = {};
  for (size_t i = 0; i < n; ++i) part[i] = static_cast<const uint16_t*>(p)[i];
  return LoadShorts(part);
}
inline void StoreShorts(void* p, ShortV v) { _mm_storeu_si128((__m128i*)p, v); }
inline void StoreShortsPart(void* p, ShortV v, size_t n) {
  uint16_t part[8];
  StoreShorts(part, v);
  for (size_t i = 0; i < n; ++i) static_cast<uint16_t*>(p)[i] = part[i];
}
inline FloatV FromHalves(ShortV v) { return (FloatV)_mm256_cvtph_ps(v); }
inline ShortV ToHalves(FloatV v) { return _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT); }
inline WordV WidenShorts(ShortV v) { return (WordV)_mm256_cvtepu16_epi32(v); }
inline ShortV NarrowWords(WordV v) {
  const __m256i packed = _mm256_packus_epi32((__m256i)v, (__m256i)v);
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

#endif

inline FloatV FromBFloat16s(ShortV v) { return (FloatV)(WidenShorts(v) << 16); }
// As ToBFloat16 in element_convert.h, on vectors.
inline ShortV ToBFloat16s(FloatV v) {
  const WordV bits = (WordV)v;
  const WordV rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const WordV nan = (bits >> 16) | 0x40u;
  return NarrowWords((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

template <class F>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef FloatV type;
};
template <>
struct VectorOf<double> {
  typedef DoubleV type;
};

inline FloatV Pow(FloatV x, float y) {
  for (size_t i = 0; i < kVectorBytes / sizeof(float); ++i) x[i] = Pow(x[i], y);
  return x;
}
inline DoubleV Pow(DoubleV x, double y) {
  for (size_t i = 0; i < kVectorBytes / sizeof(double); ++i) x[i] = Pow(x[i], y);
  return x;
}

inline FloatV Load(const float* p) {
  FloatV v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline DoubleV Load(const double* p) {
  DoubleV v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline FloatV Load(const Half* p) { return FromHalves(LoadShorts(p)); }
inline FloatV Load(const BFloat16* p) { return FromBFloat16s(LoadShorts(p)); }
inline FloatV LoadPart(const Half* p, size_t n) { return FromHalves(LoadShortsPart(p, n)); }
inline FloatV LoadPart(const BFloat16* p, size_t n) { return FromBFloat16s(LoadShortsPart(p, n)); }

inline void Store(float* p, FloatV v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline void Store(double* p, DoubleV v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline void Store(Half* p, FloatV v) { StoreShorts(p, ToHalves(v)); }
inline void Store(BFloat16* p, FloatV v) { StoreShorts(p, ToBFloat16s(v)); }
inline void StorePart(Half* p, FloatV v, size_t n) { StoreShortsPart(p, ToHalves(v), n); }
inline void StorePart(BFloat16* p, FloatV v, size_t n) { StoreShortsPart(p, ToBFloat16s(v), n); }

// What a store followed by a load of type T would give.
inline FloatV Rounded(FloatV v, const float*) { return v; }
inline DoubleV Rounded(DoubleV v, const double*) { return v; }
inline FloatV Rounded(FloatV v, const Half*) { return FromHalves(ToHalves(v)); }
inline FloatV Rounded(FloatV v, const BFloat16*) { return FromBFloat16s(ToBFloat16s(v)); }

#else  // scalar

template <class F>
struct VectorOf {
  typedef F type;
};

inline float Load(const float* p) { return *p; }
inline double Load(const double* p) { return *p; }
inline float Load(const Half* p) { return ToFloat(*p); }
inline float Load(const BFloat16* p) { return ToFloat(*p); }

inline void Store(float* p, float v) { *p = v; }
inline void Store(double* p, double v) { *p = v; }
inline void Store(Half* p, float v) { *p = ToHalf(v); }
inline void Store(BFloat16* p, float v) { *p = ToBFloat16(v); }

// A vector of one element has no part.
template <class T>
inline auto LoadPart(const T* p, size_t) {
  return Load(p);
}
template <class T, class V>
inline void StorePart(T*, V, size_t) {}

inline float Rounded(float v, const float*) { return v; }
inline double Rounded(double v, const double*) { return v; }
inline float Rounded(float v, const Half*) { return ToFloat(ToHalf(v)); }
inline float Rounded(float v, const BFloat16*) { return ToFloat(ToBFloat16(v)); }

#endif
