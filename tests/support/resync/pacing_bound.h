// What a resync must take from a reader on disks that serve in order and cannot be interrupted: the
// bound that follows from DiskModel, against which pacing is judged. Pure functions.
//
// A closed loop of random reads, one at a time, over n members; alone a read takes S. The resync
// puts windows of W bytes to all members at once, R bytes per second and member. A window lasts
// b = c + W / B on a member, with B the bandwidth and c what comes before its transfer (latency,
// and a seek where there are any).
//
//   waiting   The read under way when a window begins ends undisturbed, at most S later, and the
//             next must wait for the rest of the window: b - S. With one channel the window begins
//             S later on the member of that read, and one in n next reads goes there: S / n more.
//             With several, a read's own c passes while it waits: c less. So each of the R / W
//             windows costs the reader w = max(0, b - S + S / n) or max(0, b - S - c), and of its
//             rate at most 1 - R / W * w is left.
//   capacity  Each read takes from the stream on its member what its transfer and its way back
//             take: S + seek with one channel; with two, where the read has taken the channel on
//             which the next piece of the stream would have prepared, c; with more, its transfer t.
//             With r reads per second, R <= B * (1 - r / n * k).
//
// Both hold for windows that go one by one to all members at once, seldom enough for every member
// to be read from between two of them. In flight together, or hard upon each other, windows save
// seeks and let members drift apart, and may pass the first.

#ifndef MDVOL_TESTS_SUPPORT_RESYNC_PACING_BOUND_H_
#define MDVOL_TESTS_SUPPORT_RESYNC_PACING_BOUND_H_

#include <cstdint>

#include "core/device/disk_model.h"

namespace mdvol::testing {

struct PacingBoundSpec {
  DiskModelParameters disk;
  uint32_t members = 4;
  uint64_t member_bytes = uint64_t{64} << 30;  // over which reads are spread
  uint64_t request_bytes = 4096;
  uint64_t window_bytes = 1 << 20;
};

// The largest share of its solo rate that the reader can keep beside a resync of this rate.
double MostReaderShare(const PacingBoundSpec& spec, double resync_bytes_per_s);
// The largest rate of a resync, bytes per second and member, that leaves the reader this share.
double MostResyncRate(const PacingBoundSpec& spec, double reader_share);

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_RESYNC_PACING_BOUND_H_
