// DiskModel: when a request would end on a disk of given numbers. Pure arithmetic: the time comes
// in, a time goes out; ModelledDevice does the waiting, predictions below are what to compare with.
//
// The disk serves requests in the order of their admission (FIFO) and answers them in that order:
//
//   start      = the later of now and the moment a channel is free; `parallelism` channels, each
//                held from its request's start to its completion
//   positioned = start + latency + positioning
//   completion = the later of positioned and the completion before it, + length / bandwidth
//
// Latencies and positionings of requests on different channels overlap; transfers share one bus, so
// that 4 KiB behind 1 MiB wait for all of it. `positioning` is 0 for a request that begins where
// the one admitted before it ended; min(seek, gap / bandwidth) for a gap ahead, which may pass
// under the head; seek for anything else. In the beginning the head stands at offset 0. Reads and
// writes cost the same; zeroing a range costs a write without its transfer; a flush ends when all
// that was admitted before it has ended, and costs nothing of its own.
//
// Left out: reordering in the disk (NCQ) and its merging, caches for reading and writing,
// read-ahead, rotation and distance as parts of a seek, zones, garbage collection, interference of
// writes with reads inside flash, errors, and any spread: equal requests take equal times.
//
// Not synchronised; a value.

#ifndef MDVOL_CORE_DEVICE_DISK_MODEL_H_
#define MDVOL_CORE_DEVICE_DISK_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device/member_device.h"

namespace mdvol {

struct DiskModelParameters {
  uint64_t latency_ns = 0;             // each request
  uint64_t seek_ns = 0;                // each request that does not follow the one before it
  uint64_t bandwidth_bytes_per_s = 0;  // 0: transfers take no time, and any gap costs a seek
  uint32_t parallelism = 1;            // requests in service at once, at least 1

  friend bool operator==(const DiskModelParameters&, const DiskModelParameters&) = default;
};

// Round numbers of the order that data sheets of each kind give; no particular disk.
inline constexpr DiskModelParameters kHddModel{0, 8'000'000, 180'000'000, 1};     // 7200/min, SATA
inline constexpr DiskModelParameters kSsdModel{100'000, 0, 500'000'000, 2};       // SATA
inline constexpr DiskModelParameters kNvmeModel{20'000, 0, 3'000'000'000ULL, 8};  // PCIe 3.0 x4

// The same disk with all its times multiplied by `factor`, which must be more than 0: slow enough
// for a busy machine to keep up with, or fast enough for a short test.
DiskModelParameters Stretched(const DiskModelParameters& parameters, double factor);

class DiskModel {
 public:
  explicit DiskModel(const DiskModelParameters& parameters);

  // The completion time of a request admitted now. `now_ns` may lie before an earlier one's
  // (callers race for admission); the order of the calls counts.
  uint64_t Admit(uint64_t now_ns, IoKind kind, uint64_t offset_bytes, uint64_t length_bytes);

 private:
  uint64_t PositioningNs(uint64_t offset_bytes) const;

  DiskModelParameters parameters_;
  // Completions never decrease, so the channel that is free first is that of the oldest of the last
  // `parallelism` requests.
  std::vector<uint64_t> completions_ns_;
  size_t oldest_ = 0;
  uint64_t last_completion_ns_ = 0;
  uint64_t head_bytes_ = 0;  // where the last admitted request ends
};

// ---- Predictions ------------------------------------------------------------------------------
// Steady states of a closed load: `depth` requests of `length_bytes` are always outstanding, on an
// otherwise idle disk. With c = min(depth, parallelism), T = length / bandwidth and a service time
// S = latency + positioning + T, requests per second = min(c / S, 1 / T). Exact when all requests
// are positioned alike; with spread and several channels (a seek and parallelism > 1), an upper
// bound, because answers come in order.

// Mean positioning of requests at random offsets in a span. With g = seek * bandwidth, the gap that
// takes as long as a seek: seek * (1 - g / 2s + g^2 / 6s^2) for g <= s, seek * (1/2 + s / 6g)
// otherwise; lengths of requests neglected against the span.
double MeanPositioningNs(const DiskModelParameters& parameters, uint64_t span_bytes);

// Requests per second at random offsets in the first `span_bytes`; 1e9 / this at depth 1 is the
// solo latency in nanoseconds, 1e9 * depth / this the mean latency at any depth. Infinite when
// nothing takes time.
double PredictRandomRate(const DiskModelParameters& parameters, uint64_t length_bytes,
                         uint64_t span_bytes, uint32_t depth);

// Bytes per second of requests that follow each other without gaps.
double PredictStreamRate(const DiskModelParameters& parameters, uint64_t length_bytes,
                         uint32_t depth);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_DISK_MODEL_H_
