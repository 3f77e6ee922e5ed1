// Half and bfloat16 to float and back, round to nearest even, NaN stays NaN. Included by
// row_update_body.h inside its anonymous namespace.

inline float FloatFromBits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint32_t BitsFromFloat(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float ToFloat(BFloat16 x) { return FloatFromBits(uint32_t(x.bits) << 16); }

inline BFloat16 ToBFloat16(float value) {
  const uint32_t bits = BitsFromFloat(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  // Adding could carry a NaN's mantissa into infinity; keep sign and exponent and set the quiet bit.
  const uint32_t nan = (bits >> 16) | 0x40u;
  return BFloat16{uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

// The half's exponent is rebased by an exact multiplication, which also normalises subnormals. The
// operand is a normal float even then, so flush-to-zero mode of the thread does not touch it.
inline float ToFloat(Half x) {
  const uint32_t sign = uint32_t(x.bits & 0x8000u) << 16;
  const uint32_t magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) {  // infinity or NaN (made quiet, as F16C does)
    const uint32_t mantissa = (magnitude & 0x3ffu) << 13;
    return FloatFromBits(sign | 0x7f800000u | mantissa | (mantissa != 0 ? 0x400000u : 0u));
  }
  if (magnitude < 0x400u) {  // zero or subnormal: magnitude * 2^-24, exact
    return FloatFromBits(BitsFromFloat(float(magnitude) * 0x1p-24f) | sign);
  }
  return FloatFromBits(sign | ((magnitude << 13) + (112u << 23)));
}

inline Half ToHalf(float value) {
  const uint32_t bits = BitsFromFloat(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520 and above round to infinity
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is subnormal: adding 0.5 aligns its last bit with the float's, so that the
    // addition itself rounds.
    half = BitsFromFloat(FloatFromBits(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  }
  return Half{uint16_t(sign | half)};
}
