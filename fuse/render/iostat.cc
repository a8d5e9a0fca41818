// See iostat.h.

#include "fuse/render/iostat.h"

#include "absl/strings/str_format.h"
#include "fuse/render/words.h"

namespace mdvol {
namespace {

double Mean(uint64_t sum, uint64_t count, double unit) {
  return count == 0 ? 0.0 : static_cast<double>(sum) / unit / static_cast<double>(count);
}

// requests bytes mean_kib merged mean_us
std::string Columns(const IoCounts& counts) {
  return absl::StrFormat(" %u %u %.1f %u %.1f", counts.requests, counts.bytes,
                         Mean(counts.bytes, counts.requests, 1024), counts.merged,
                         Mean(counts.busy_ns, counts.requests, 1000));
}

}  // namespace

std::string RenderIostat(const ArraySnapshot& array) {
  std::string text =
      "member r_requests r_bytes r_mean_kib r_merged r_mean_us "
      "w_requests w_bytes w_mean_kib w_merged w_mean_us flushes errors\n";
  for (const MemberSnapshot* member : MembersByIndex(array)) {
    text += member->name + Columns(member->io.reads) + Columns(member->io.writes);
    absl::StrAppendFormat(&text, " %u %u\n", member->io.flushes, member->io.errors);
  }
  return text;
}

}  // namespace mdvol
