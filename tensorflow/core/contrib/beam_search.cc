#include "tensorflow/core/contrib/beam_search.h"

#include <algorithm>

namespace deeprec {
namespace contrib {

bool GatherTree(const int32_t* step_ids, const int32_t* parent_ids, const int32_t* sequence_lengths,
                int64_t max_time, int64_t batch, int64_t beam_width, int32_t end_token,
                int32_t* beams, int32_t* bad_parent) {
  const int64_t step = batch * beam_width;
  std::fill(beams, beams + max_time * step, end_token);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = std::min<int64_t>(max_time, sequence_lengths[b]);
    for (int64_t beam = 0; beam < beam_width; ++beam) {
      int32_t at = static_cast<int32_t>(beam);
      for (int64_t time = length - 1; time >= 0; --time) {
        const int64_t source = time * step + b * beam_width + at;
        beams[time * step + b * beam_width + beam] = step_ids[source];
        at = parent_ids[source];
        if (time > 0 && (at < 0 || at >= beam_width)) {
          *bad_parent = at;
          return false;
        }
      }
      bool ended = false;
      for (int64_t time = 0; time < length; ++time) {
        int32_t& id = beams[time * step + b * beam_width + beam];
        if (ended) id = end_token;
        ended = ended || id == end_token;
      }
    }
  }
  return true;
}

}  // namespace contrib
}  // namespace deeprec
