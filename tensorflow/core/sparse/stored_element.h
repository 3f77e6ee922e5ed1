// Elements in memory and what they are computed in: 16-bit ones in float, rounded when stored. Included inside an
// anonymous namespace of deeprec::sparse or below it, after element_convert.h.

template <class T>
struct Stored {
  using Compute = T;
  static T Load(T x) { return x; }
  static T Store(T x) { return x; }
};
template <>
struct Stored<Half> {
  using Compute = float;
  static float Load(Half x) { return ToFloat(x); }
  static Half Store(float x) { return ToHalf(x); }
};
template <>
struct Stored<BFloat16> {
  using Compute = float;
  static float Load(BFloat16 x) { return ToFloat(x); }
  static BFloat16 Store(float x) { return ToBFloat16(x); }
};

// Calls body with a value of the element type.
template <class Body>
void ForType(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::kHalf: return body(Half());
    case ElementType::kBFloat16: return body(BFloat16());
    case ElementType::kFloat: return body(float());
    case ElementType::kDouble: return body(double());
  }
}
