// Workload: users of a volume, as fio describes them: jobs, each with so many requests outstanding.
// Every outstanding request is carried by a thread of its own, as the workers of a mount do; their
// stacks are small, so that 48 jobs of depth 32 are 1536 threads and no trouble.
//
//   Start                 the load runs; nothing is measured (warm-up)
//   BeginMeasuring        ...EndMeasuring: the window
//   Stop                  the load ends, and says what the window held
//
// Requests and bytes are those that ended in the window. Latencies are those of every request that
// was under way in the window, also if it ended after it: a request that starves is not forgotten
// (but for what Stop has to wait for, nothing is measured after the window). One thread drives a
// workload; several workloads may run on one volume.

#ifndef MDVOL_TESTS_BENCH_FRAME_WORKLOAD_H_
#define MDVOL_TESTS_BENCH_FRAME_WORKLOAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/array/volume.h"
#include "core/base/clock.h"
#include "tests/bench/frame/histogram.h"

namespace mdvol::bench {

struct WorkloadSpec {
  std::string name;  // for messages
  uint32_t jobs = 1;
  uint32_t queue_depth = 1;
  uint64_t block_bytes = 4096;
  double read_share = 1;     // 1: reads only, 0: writes only
  bool random = true;        // sequential: the requests of a job take turns, round and round
  uint32_t fsync_every = 0;  // a flush after so many writes of a job; 0: none
  uint64_t think_ns = 0;     // a thread rests so long after each request
  // The part of the volume that is used; length 0: all from there. Members in memory keep what is
  // written, in blocks of 64 KiB: bound it when you write.
  uint64_t begin_bytes = 0;
  uint64_t length_bytes = 0;
  bool own_regions = false;  // the part is dealt out among the jobs; otherwise all use all of it
  uint64_t seed = 1;
};

struct KindResult {
  uint64_t requests = 0;
  uint64_t bytes = 0;
  LatencyHistogram latency;

  void Merge(const KindResult& other);
};

struct WorkloadResult {
  double seconds = 0;  // of the window
  KindResult reads;
  KindResult writes;
  KindResult flushes;
  uint64_t errors = 0;  // failed requests; they count nowhere else
  absl::Status first_error;

  // Reads and writes together; flushes are apart.
  double Iops() const;
  double BytesPerSecond() const;
  LatencyHistogram Latency() const;
};

class Workload {
 public:
  virtual ~Workload() = default;  // stops
  virtual void BeginMeasuring() = 0;
  virtual void EndMeasuring() = 0;
  // Since the start, whether measured or not.
  virtual uint64_t completed_requests() const = 0;
  // Once.
  virtual WorkloadResult Stop() = 0;
};

// Starts it. EINVAL for what makes no sense on this volume, EAGAIN without enough threads. `volume`
// and `clock` must outlive the workload.
absl::StatusOr<std::unique_ptr<Workload>> StartWorkload(Volume& volume, const WorkloadSpec& spec,
                                                        Clock& clock);

struct RunTimes {
  double warmup_seconds = 0;
  double seconds = 1;
};

enum class WindowEdge : uint8_t { kBegin, kEnd };

// Start, warm-up, window, stop, by the clock; all workloads at once, over the same window. An error
// of any request is the call's error: a number that was measured over failures is none. `at_edge`
// is called at both ends of the window, if it is given.
absl::StatusOr<std::vector<WorkloadResult>> RunTogether(
    Volume& volume, const std::vector<WorkloadSpec>& specs, const RunTimes& times, Clock& clock,
    const std::function<void(WindowEdge)>& at_edge = {});
absl::StatusOr<WorkloadResult> RunWorkload(Volume& volume, const WorkloadSpec& spec,
                                           const RunTimes& times, Clock& clock);

}  // namespace mdvol::bench

#endif  // MDVOL_TESTS_BENCH_FRAME_WORKLOAD_H_
