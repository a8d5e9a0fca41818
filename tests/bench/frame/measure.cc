// See measure.h.

#include "tests/bench/frame/measure.h"

#include <cerrno>
#include <limits>
#include <utility>

#include "core/base/status.h"

namespace mdvol::bench {

double Measurement::SyncBytesPerSecond() const {
  return seconds > 0 && live_members > 0
             ? static_cast<double>(members[IoClass::kSync].reads.bytes) / live_members / seconds
             : 0;
}

double Measurement::ReadAmplification() const {
  uint64_t user_bytes = 0;
  for (const WorkloadResult& load : loads) {
    user_bytes += load.reads.bytes;
  }
  return user_bytes == 0 ? std::numeric_limits<double>::quiet_NaN()
                         : static_cast<double>(members[IoClass::kForeground].reads.bytes) /
                               static_cast<double>(user_bytes);
}

double Measurement::MeanWriteBytes() const { return members.Data().writes.MeanBytes(); }

absl::StatusOr<Measurement> Measure(BenchArray& array, const std::vector<WorkloadSpec>& specs,
                                    const RunTimes& times, Clock& clock) {
  Measurement measured;
  measured.live_members = array.live_members();
  uint64_t begin_ns = 0;
  MemberTally before;
  bool sync_ended = false;
  const bool has_sync = array.sync().Status().action != SyncAction::kIdle;
  const auto at_edge = [&](WindowEdge edge) {
    const MemberTally total = array.Total();
    const uint64_t now_ns = clock.NowNs();
    if (edge == WindowEdge::kBegin) {
      before = total;
      begin_ns = now_ns;
    } else {
      measured.members = total - before;
      sync_ended = has_sync && array.sync().Status().action == SyncAction::kIdle;
      measured.seconds = static_cast<double>(now_ns - begin_ns) * 1e-9;
    }
  };
  MDVOL_ASSIGN_OR_RETURN(measured.loads, RunTogether(array.array(), specs, times, clock, at_edge));
  if (sync_ended) {
    return ErrnoStatus(ETIME,
                       "the sync was through before its window was: make the members larger");
  }
  return measured;
}

}  // namespace mdvol::bench
