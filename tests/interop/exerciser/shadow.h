// Shadow: the model of a volume, kept in a file of the volume's size that is mapped into memory.
// What the volume must read as is what the shadow holds.
//
// RangeLock lets many threads write at once while no two of them ever touch the same bytes, so that
// volume and shadow cannot disagree about who was last.
//
// Threading: a Shadow's bytes are shared by all threads, under the callers' range locks; RangeLock
// is thread-safe. Ownership: a Shadow owns its mapping; the file stays.

#ifndef MDVOL_TESTS_INTEROP_EXERCISER_SHADOW_H_
#define MDVOL_TESTS_INTEROP_EXERCISER_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace mdvol::testing {

class Shadow {
 public:
  // Maps `path`; a file that does not exist yet is made, `size_bytes` zeroes long. An existing file
  // must have that size.
  static absl::StatusOr<Shadow> Open(const std::string& path, uint64_t size_bytes);

  Shadow(Shadow&& other) noexcept;
  Shadow& operator=(Shadow&&) = delete;
  ~Shadow();

  std::span<std::byte> bytes() const { return bytes_; }
  std::byte* at(uint64_t offset_bytes) const { return bytes_.data() + offset_bytes; }

 private:
  explicit Shadow(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

struct Extent {
  uint64_t offset_bytes = 0;
  uint64_t length_bytes = 0;
};

class RangeLock {
 public:
  // Ranges are widened to multiples of `granularity_bytes` before they are compared: 4096 where one
  // page of the page cache must not be written in two ways at once, 1 otherwise.
  explicit RangeLock(uint64_t granularity_bytes) : granularity_bytes_(granularity_bytes) {}

  // False if the range overlaps one that is held.
  bool TryLock(const Extent& extent) ABSL_LOCKS_EXCLUDED(mutex_);
  void Unlock(const Extent& extent) ABSL_LOCKS_EXCLUDED(mutex_);
  // All ranges held, as they were locked; none is held afterwards.
  std::vector<Extent> TakeAll() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const uint64_t granularity_bytes_;
  absl::Mutex mutex_;
  std::vector<Extent> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_INTEROP_EXERCISER_SHADOW_H_
