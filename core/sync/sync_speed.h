// SyncSpeed: how fast a run goes, judged as md does: over a sliding interval of up to half a
// minute, by marks that are set every three seconds. Not thread-safe.

#ifndef MDVOL_CORE_SYNC_SYNC_SPEED_H_
#define MDVOL_CORE_SYNC_SYNC_SPEED_H_

#include <cstdint>
#include <deque>

namespace mdvol {

class SyncSpeed {
 public:
  explicit SyncSpeed(uint64_t now_ns = 0) : marks_{{now_ns, 0}} {}

  // `done_bytes` of each member have been worked through since the start of the run; never less
  // than before.
  void Note(uint64_t now_ns, uint64_t done_bytes);

  uint64_t mark_ns() const { return marks_.front().at_ns; }
  uint64_t bytes_since_mark() const { return done_bytes_ - marks_.front().done_bytes; }
  // Per second and member; 0 as long as no time has passed.
  uint64_t BytesPerSecond(uint64_t now_ns) const;

 private:
  struct Mark {
    uint64_t at_ns;
    uint64_t done_bytes;
  };

  std::deque<Mark> marks_;  // oldest first, never empty
  uint64_t done_bytes_ = 0;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_SYNC_SYNC_SPEED_H_
