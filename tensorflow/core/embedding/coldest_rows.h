// Which rows of a tier are the coldest: a queue of candidates, exact without a list of all rows that every use would move.
//
// A row gets hotter by being used and never colder. So once a pass over the tier has found its coldest rows, up to some
// bound, all others stay above that bound: the coldest row is among those candidates and the rows that came since, as long as
// candidates below the bound are left. Then another pass is due. Whoever takes a candidate compares it with the row as it is
// now and gives it back if that was used meanwhile.
//
// Not thread safe.

#ifndef TENSORFLOW_CORE_EMBEDDING_COLDEST_ROWS_H_
#define TENSORFLOW_CORE_EMBEDDING_COLDEST_ROWS_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace deeprec {
namespace embedding {

// How cold a row is: compared by rank, then age (the smaller is the colder), then key, so that the order is one.
struct Coldness {
  uint64_t rank;
  uint64_t age;
  int64_t key;
  bool operator==(const Coldness& other) const { return rank == other.rank && age == other.age && key == other.key; }
  bool operator>(const Coldness& other) const {
    if (rank != other.rank) return rank > other.rank;
    if (age != other.age) return age > other.age;
    return key > other.key;
  }
};

class ColdestRows {
 public:
  // A pass over the tier: Begin, Offer for each row, End. Of the rows offered the `keep` coldest become candidates.
  void Begin(size_t keep);
  void Offer(const Coldness& row);
  void End();
  // Whether there has been a pass, so that rows that come must be told.
  bool active() const { return active_; }

  // A row that came, or was given back. Left to the next pass if it is above the bound.
  void Add(const Coldness& row);
  // Takes the coldest; false if a pass is due.
  bool Pop(Coldness* row);
  // As before the first pass.
  void Reset();

 private:
  void Shrink();

  bool active_ = false;
  bool bounded_ = false;  // rows above bound_ are not here
  Coldness bound_{};
  size_t keep_ = 0;
  std::vector<Coldness> rows_;  // after End a heap, the coldest on top
};

}  // namespace embedding
}  // namespace deeprec

#endif  // TENSORFLOW_CORE_EMBEDDING_COLDEST_ROWS_H_
