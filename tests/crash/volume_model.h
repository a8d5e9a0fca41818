// VolumeModel: what a volume may hold after a crash, per atom of 512 bytes: what it held when the
// last flush began that was acknowledged before the crash, or what any write left there that was
// begun later and before the crash. Nothing else.
//
// Knows nothing of stripes or members. One thread at a time while it is filled, then constant.

#ifndef MDVOL_TESTS_CRASH_VOLUME_MODEL_H_
#define MDVOL_TESTS_CRASH_VOLUME_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace mdvol::crash {

// At one time of crash.
class AllowedContent {
 public:
  // The first atom, as an offset in the volume, whose bytes are not allowed. Those for which
  // `is_exempt` says so are not looked at.
  std::optional<uint64_t> FirstForbidden(std::span<const std::byte> volume,
                                         const std::function<bool(uint64_t)>& is_exempt) const;
  // Whether any atom in the range may hold one of several values.
  bool IsOpen(uint64_t begin_bytes, uint64_t end_bytes) const;
  // Which writes must and may be there. Times with the same window allow the same.
  std::pair<size_t, size_t> window() const { return {durable_writes_, begun_writes_}; }

 private:
  friend class VolumeModel;
  bool IsAllowedLater(uint64_t offset_bytes, std::span<const std::byte> atom) const;

  std::vector<std::byte> durable_;
  absl::flat_hash_map<uint64_t, std::vector<std::vector<std::byte>>> later_;  // by offset
  size_t durable_writes_ = 0;
  size_t begun_writes_ = 0;
};

class VolumeModel {
 public:
  // `initial`: whole atoms, durable at time 0.
  explicit VolumeModel(std::vector<std::byte> initial);

  // Writes come one after the other. A zeroed range is a write of zeroes.
  void Write(uint64_t offset_bytes, std::span<const std::byte> data, size_t begun_at);
  // All writes so far were acknowledged to be durable at this time.
  void Settle(size_t acknowledged_at);

  const std::vector<std::byte>& newest() const { return newest_; }
  AllowedContent At(size_t time) const;

 private:
  struct Change {
    uint64_t offset_bytes = 0;
    std::vector<std::byte> data;
    size_t begun_at = 0;
  };

  std::vector<std::byte> initial_;
  std::vector<std::byte> newest_;
  std::vector<Change> changes_;
  std::vector<std::pair<size_t, size_t>> settled_;  // time, how many changes
};

}  // namespace mdvol::crash

#endif  // MDVOL_TESTS_CRASH_VOLUME_MODEL_H_
