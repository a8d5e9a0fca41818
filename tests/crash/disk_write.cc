// See disk_write.h.

#include "tests/crash/disk_write.h"

#include "core/base/units.h"

namespace mdvol::crash {

using testing::RecordedRequest;
using testing::RecordedRequests;

size_t DiskWrite::Atoms() const {
  return CeilDiv(offset_bytes + bytes.size(), kAtomBytes) - offset_bytes / kAtomBytes;
}

std::vector<DiskWrite> WritesOf(const RecordedRequests& log) {
  std::vector<DiskWrite> writes;
  for (size_t i = 0; i < log.size(); ++i) {
    const RecordedRequest& request = log[i];
    if (!request.Changes() || request.length_bytes == 0) {
      continue;
    }
    DiskWrite write;
    write.member = request.member;
    write.offset_bytes = request.offset_bytes;
    write.bytes = request.bytes;
    write.bytes.resize(request.length_bytes);  // a discard has none: zeroes
    write.visible_at = i;
    write.durable_at = request.error == 0 ? testing::DurableAt(log, i) : testing::kNever;
    writes.push_back(std::move(write));
  }
  return writes;
}

}  // namespace mdvol::crash
