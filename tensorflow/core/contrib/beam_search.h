#ifndef TENSORFLOW_CORE_CONTRIB_BEAM_SEARCH_H_
#define TENSORFLOW_CORE_CONTRIB_BEAM_SEARCH_H_

#include <cstdint>

namespace deeprec {
namespace contrib {

// Follows the parents of beam search from the last step of each beam to the first and writes the
// ids met.
//
// step_ids, parent_ids and beams are [max_time, batch, beam_width] in row-major order;
// sequence_lengths is [batch] and is cut to max_time. Steps from sequence_lengths on, and those
// after the first end_token of a beam, hold end_token.
//
// Returns the first parent outside of 0..beam_width-1 through bad_parent, and false; beams is then
// incomplete.
bool GatherTree(const int32_t* step_ids, const int32_t* parent_ids, const int32_t* sequence_lengths,
                int64_t max_time, int64_t batch, int64_t beam_width, int32_t end_token,
                int32_t* beams, int32_t* bad_parent);

}  // namespace contrib
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_CONTRIB_BEAM_SEARCH_H_
