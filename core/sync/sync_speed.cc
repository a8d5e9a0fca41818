// See sync_speed.h.

#include "core/sync/sync_speed.h"

#include <cstddef>

namespace mdvol {
namespace {

constexpr uint64_t kMarkStepNs = 3'000'000'000;
constexpr size_t kMarks = 10;

}  // namespace

void SyncSpeed::Note(uint64_t now_ns, uint64_t done_bytes) {
  done_bytes_ = done_bytes;
  if (now_ns - marks_.back().at_ns >= kMarkStepNs) {
    marks_.push_back({now_ns, done_bytes});
    if (marks_.size() > kMarks) {
      marks_.pop_front();
    }
  }
}

uint64_t SyncSpeed::BytesPerSecond(uint64_t now_ns) const {
  const uint64_t passed_ns = now_ns - mark_ns();
  return passed_ns == 0 ? 0
                        : static_cast<uint64_t>(static_cast<double>(bytes_since_mark()) * 1e9 /
                                                static_cast<double>(passed_ns));
}

}  // namespace mdvol
