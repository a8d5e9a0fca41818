// degraded_read "adaptive": a random read costs what it must, a stream reads no byte twice.
//
//   stripes that have lost no data, and reads of live    straight from the members, nothing kept
//   chunks that belong to no stream
//   a read at random of a lost chunk                     the n-2 blocks that it takes
//   a read of a whole stripe                             the n-2 chunks that it takes
//   reads in a row in a stripe with a lost chunk         what is read is kept, lane by lane, until
//                                                        the lane's last block has been handed
//                                                        over, or the stream has ceased
//   a stream there that has not passed the lost chunk    besides, all columns before it are read,
//                                                        and the lost ones rebuilt, in one go;
//                                                        other requests of the stream that have to
//                                                        wait for that begin the next stripe
//                                                        meanwhile
//
// What is read ahead in vain is at most the rest of a stripe at a stream's end, and one more if it
// had many requests at once; and it takes many reads in a row to be believed a stream. Nothing is
// kept when the stripe cache has no room for three stripes of each stream.

#ifndef MDVOL_POLICIES_ADAPTIVE_READS_H_
#define MDVOL_POLICIES_ADAPTIVE_READS_H_

#include <array>
#include <cstdint>

#include "core/policy/degraded_read.h"

namespace mdvol {

class AdaptiveReads final : public DegradedRead {
 public:
  static constexpr std::array kOptions{
      PolicyOptionInfo{"retention_ms", 100, 1, 10000, true,
                       "how long what was read for a stream is kept when the stream has ceased"},
      PolicyOptionInfo{"readahead_kib", 512, 4, 16384, true,
                       "how much of every chunk is read at once ahead of a stream"},
      PolicyOptionInfo{"stream_requests", 8, 2, 1000, true,
                       "how many small reads in a row make a stream to read ahead for"},
  };

  explicit AdaptiveReads(PolicyNumbers numbers);
  DegradedReadDecision Decide(const DegradedReadFacts& facts) override;

 private:
  bool IsInRow(const DegradedReadFacts& facts) const;
  bool IsStream(const DegradedReadFacts& facts) const;
  static bool HasRoom(const DegradedReadFacts& facts);

  const uint64_t retention_ns_;
  const uint64_t ahead_bytes_;
  const uint32_t stream_requests_;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_ADAPTIVE_READS_H_
