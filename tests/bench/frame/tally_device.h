// TallyDevice: a decorator that counts what reaches a member, apart for whom it was done: the users
// of the volume, a sync (or whatever else no user's thread does), or the array's own metadata.
//
// Whom a request is for is told by the thread that submits it: threads that hold a ForegroundThread
// are users. A policy that hands users' work to threads of its own makes it count as kSync: where
// that matters, run no sync, or take all of it. Counters are relaxed atomics: each exact, together
// a snapshot only when nothing is in flight. Thread-safe.

#ifndef MDVOL_TESTS_BENCH_FRAME_TALLY_DEVICE_H_
#define MDVOL_TESTS_BENCH_FRAME_TALLY_DEVICE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/device/member_device.h"
#include "core/metadata/member_areas.h"

namespace mdvol::bench {

enum class IoClass : uint8_t { kForeground, kSync, kMetadata };
inline constexpr size_t kIoClasses = 3;

// Marks the calling thread as a user of the volume, for as long as it lives.
class ForegroundThread {
 public:
  ForegroundThread();
  ~ForegroundThread();
  ForegroundThread(const ForegroundThread&) = delete;
  ForegroundThread& operator=(const ForegroundThread&) = delete;
};

struct Tally {
  uint64_t requests = 0;
  uint64_t bytes = 0;
  uint64_t merged = 0;      // pieces beyond the first of each request
  uint64_t sequential = 0;  // requests that begin where the last of their class and kind ended

  double MeanBytes() const;        // 0 without requests
  double SequentialShare() const;  // 0 without requests
  Tally& operator+=(const Tally& other);
  Tally operator-(const Tally& earlier) const;
};

struct ClassTally {
  Tally reads;
  Tally writes;  // zeroing too
  uint64_t flushes = 0;

  Tally All() const;
  ClassTally& operator+=(const ClassTally& other);
  ClassTally operator-(const ClassTally& earlier) const;
};

// Of one member, or summed over members. Differences of two snapshots are what happened between.
struct MemberTally {
  std::array<ClassTally, kIoClasses> classes;

  const ClassTally& operator[](IoClass io_class) const {
    return classes[static_cast<size_t>(io_class)];
  }
  ClassTally& operator[](IoClass io_class) { return classes[static_cast<size_t>(io_class)]; }
  ClassTally Data() const;  // users and sync
  MemberTally& operator+=(const MemberTally& other);
  MemberTally operator-(const MemberTally& earlier) const;
};

class TallyDevice : public MemberDevice {
 public:
  virtual MemberTally Counts() const = 0;
  // The most writes of data that were ever between Submit and Wait at once since the last reset.
  virtual uint64_t MostWritesAtOnce() const = 0;
  virtual void ResetMostWritesAtOnce() = 0;
};

// What lies outside `data` is metadata.
std::unique_ptr<TallyDevice> NewTallyDevice(std::unique_ptr<MemberDevice> inner, ByteRange data);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_TALLY_DEVICE_H_
