// See workload.h.

#include "tests/bench/frame/workload.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "core/base/aligned_buffer.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "tests/bench/frame/tally_device.h"
#include "tests/support/seed.h"

namespace mdvol::bench {
namespace {

using ::mdvol::testing::Prng;

// The engine keeps its scratch on the heap; sanitizers want more stack than anybody else.
constexpr size_t kStackBytes = 512 * kKiB;

enum class Phase : uint8_t { kWarmUp, kMeasuring, kEnded, kStopping };

// What the threads of one job share.
struct alignas(64) Job {
  uint64_t begin_bytes = 0;
  uint64_t blocks = 0;
  std::atomic<uint64_t> next_block = 0;  // sequential
  std::atomic<uint64_t> writes = 0;      // since the start, for fsync_every
};

class WorkloadImpl;

// One outstanding request, and the thread that carries it.
struct alignas(64) Carrier {
  WorkloadImpl* workload = nullptr;
  Job* job = nullptr;
  Prng prng{0};
  pthread_t thread{};
  std::atomic<uint64_t> completed = 0;
  WorkloadResult result;  // its thread's, until that is joined
};

class WorkloadImpl final : public Workload {
 public:
  WorkloadImpl(Volume& volume, const WorkloadSpec& spec, Clock& clock)
      : volume_(volume), spec_(spec), clock_(clock), payload_(spec.block_bytes) {
    Prng prng(spec.seed);
    prng.Fill(payload_.span());
  }
  ~WorkloadImpl() override { Join(); }

  absl::Status Start();

  void BeginMeasuring() override {
    begin_ns_ = clock_.NowNs();
    phase_.store(Phase::kMeasuring, std::memory_order_release);
  }

  void EndMeasuring() override {
    end_ns_.store(clock_.NowNs(), std::memory_order_relaxed);
    phase_.store(Phase::kEnded, std::memory_order_release);
  }

  uint64_t completed_requests() const override {
    uint64_t sum = 0;
    for (const auto& carrier : carriers_) {
      sum += carrier->completed.load(std::memory_order_relaxed);
    }
    return sum;
  }

  WorkloadResult Stop() override;

  void Carry(Carrier& carrier);

 private:
  void DealOutRegions();
  void Join();
  uint64_t NextOffset(Carrier& carrier) const;
  void RunOne(Carrier& carrier, AlignedBuffer& buffer);
  void RunFlush(Carrier& carrier);
  void Note(Carrier& carrier, KindResult WorkloadResult::*kind, uint64_t begin_ns, uint64_t bytes,
            const absl::Status& status);

  Volume& volume_;
  const WorkloadSpec spec_;
  Clock& clock_;
  AlignedBuffer payload_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  size_t running_ = 0;  // carriers_[0 .. running_) have threads
  absl::Notification go_;
  std::atomic<Phase> phase_ = Phase::kWarmUp;
  uint64_t begin_ns_ = 0;  // the driver's
  std::atomic<uint64_t> end_ns_ = 0;
};

void* CarrierMain(void* argument) {
  auto* carrier = static_cast<Carrier*>(argument);
  carrier->workload->Carry(*carrier);
  return nullptr;
}

absl::Status CheckSpec(const Volume& volume, const WorkloadSpec& spec) {
  const uint64_t volume_bytes = volume.volume_bytes();
  const auto refuse = [&spec](std::string_view why) {
    return ErrnoStatus(EINVAL, absl::StrCat("workload ", spec.name, ": ", std::string(why)));
  };
  if (spec.jobs == 0 || spec.queue_depth == 0 || spec.block_bytes == 0) {
    return refuse("jobs, queue depth and block size must not be 0");
  }
  if (spec.begin_bytes > volume_bytes || spec.length_bytes > volume_bytes - spec.begin_bytes) {
    return refuse(absl::StrCat("its part ends beyond the volume's ", volume_bytes, " bytes"));
  }
  const uint64_t part_bytes =
      spec.length_bytes != 0 ? spec.length_bytes : volume_bytes - spec.begin_bytes;
  if (part_bytes / (spec.own_regions ? spec.jobs : 1) < spec.block_bytes) {
    return refuse("its part, or a job's share of it, is smaller than a block");
  }
  return absl::OkStatus();
}

void WorkloadImpl::DealOutRegions() {
  const uint64_t part_bytes =
      spec_.length_bytes != 0 ? spec_.length_bytes : volume_.volume_bytes() - spec_.begin_bytes;
  const uint64_t regions = spec_.own_regions ? spec_.jobs : 1;
  const uint64_t blocks = part_bytes / spec_.block_bytes / regions;
  for (uint32_t i = 0; i < spec_.jobs; ++i) {
    auto job = std::make_unique<Job>();
    job->blocks = blocks;
    job->begin_bytes = spec_.begin_bytes + (spec_.own_regions ? i * blocks * spec_.block_bytes : 0);
    // Sequential jobs in one region begin apart, as otherwise all would ask for the same blocks.
    job->next_block = spec_.own_regions ? 0 : blocks * i / spec_.jobs;
    jobs_.push_back(std::move(job));
  }
}

absl::Status WorkloadImpl::Start() {
  MDVOL_RETURN_IF_ERROR(CheckSpec(volume_, spec_));
  DealOutRegions();
  Prng seeds(spec_.seed);
  for (uint32_t i = 0; i < spec_.jobs * spec_.queue_depth; ++i) {
    auto carrier = std::make_unique<Carrier>();
    carrier->workload = this;
    carrier->job = jobs_[i / spec_.queue_depth].get();
    carrier->prng = Prng(seeds.Next());
    carriers_.push_back(std::move(carrier));
  }
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  int error = 0;
  for (const auto& carrier : carriers_) {
    error = ::pthread_create(&carrier->thread, &attributes, &CarrierMain, carrier.get());
    if (error != 0) {
      break;
    }
    ++running_;
  }
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    phase_.store(Phase::kStopping, std::memory_order_release);
    return SystemError(error, absl::StrCat("workload ", spec_.name, ": thread ", running_ + 1,
                                           " of ", carriers_.size()));
  }
  go_.Notify();
  return absl::OkStatus();
}

void WorkloadImpl::Join() {
  phase_.store(Phase::kStopping, std::memory_order_release);
  if (!go_.HasBeenNotified()) {
    go_.Notify();
  }
  for (size_t i = 0; i < running_; ++i) {
    ::pthread_join(carriers_[i]->thread, nullptr);
  }
  running_ = 0;
}

WorkloadResult WorkloadImpl::Stop() {
  Join();
  WorkloadResult sum;
  const uint64_t end_ns = end_ns_.load(std::memory_order_relaxed);
  sum.seconds = end_ns > begin_ns_ ? static_cast<double>(end_ns - begin_ns_) * 1e-9 : 0;
  for (const auto& carrier : carriers_) {
    const WorkloadResult& result = carrier->result;
    sum.reads.Merge(result.reads);
    sum.writes.Merge(result.writes);
    sum.flushes.Merge(result.flushes);
    sum.errors += result.errors;
    if (sum.first_error.ok()) {
      sum.first_error = result.first_error;
    }
  }
  return sum;
}

void WorkloadImpl::Carry(Carrier& carrier) {
  const ForegroundThread foreground;
  go_.WaitForNotification();
  AlignedBuffer buffer(spec_.read_share > 0 ? spec_.block_bytes : 0);
  while (phase_.load(std::memory_order_acquire) != Phase::kStopping) {
    RunOne(carrier, buffer);
    if (spec_.think_ns != 0) {
      clock_.SleepUntil(clock_.NowNs() + spec_.think_ns);
    }
  }
}

uint64_t WorkloadImpl::NextOffset(Carrier& carrier) const {
  Job& job = *carrier.job;
  const uint64_t block = spec_.random
                             ? carrier.prng.Below(job.blocks)
                             : job.next_block.fetch_add(1, std::memory_order_relaxed) % job.blocks;
  return job.begin_bytes + block * spec_.block_bytes;
}

void WorkloadImpl::RunOne(Carrier& carrier, AlignedBuffer& buffer) {
  constexpr uint64_t kShareSteps = 1 << 20;
  const uint64_t offset_bytes = NextOffset(carrier);
  const bool is_read = static_cast<double>(carrier.prng.Below(kShareSteps)) <
                       spec_.read_share * static_cast<double>(kShareSteps);
  const uint64_t begin_ns = clock_.NowNs();
  if (is_read) {
    const absl::Status status = volume_.Read(offset_bytes, buffer.span());
    Note(carrier, &WorkloadResult::reads, begin_ns, spec_.block_bytes, status);
    return;
  }
  const absl::Status status = volume_.Write(offset_bytes, std::as_const(payload_).span());
  Note(carrier, &WorkloadResult::writes, begin_ns, spec_.block_bytes, status);
  if (spec_.fsync_every != 0 &&
      (carrier.job->writes.fetch_add(1, std::memory_order_relaxed) + 1) % spec_.fsync_every == 0) {
    RunFlush(carrier);
  }
}

void WorkloadImpl::RunFlush(Carrier& carrier) {
  const uint64_t begin_ns = clock_.NowNs();
  const absl::Status status = volume_.Flush();
  Note(carrier, &WorkloadResult::flushes, begin_ns, 0, status);
}

void WorkloadImpl::Note(Carrier& carrier, KindResult WorkloadResult::*kind, uint64_t begin_ns,
                        uint64_t bytes, const absl::Status& status) {
  const Phase phase = phase_.load(std::memory_order_acquire);
  const uint64_t now_ns = clock_.NowNs();
  carrier.completed.fetch_add(1, std::memory_order_relaxed);
  if (!status.ok()) {
    ++carrier.result.errors;
    if (carrier.result.first_error.ok()) {
      carrier.result.first_error = status;
    }
    return;
  }
  KindResult& result = carrier.result.*kind;
  if (phase == Phase::kMeasuring) {
    ++result.requests;
    result.bytes += bytes;
    result.latency.Add(now_ns - begin_ns);
  } else if (phase != Phase::kWarmUp && begin_ns < end_ns_.load(std::memory_order_relaxed)) {
    result.latency.Add(now_ns - begin_ns);
  }
}

}  // namespace

void KindResult::Merge(const KindResult& other) {
  requests += other.requests;
  bytes += other.bytes;
  latency.Merge(other.latency);
}

double WorkloadResult::Iops() const {
  return seconds > 0 ? static_cast<double>(reads.requests + writes.requests) / seconds : 0;
}

double WorkloadResult::BytesPerSecond() const {
  return seconds > 0 ? static_cast<double>(reads.bytes + writes.bytes) / seconds : 0;
}

LatencyHistogram WorkloadResult::Latency() const {
  LatencyHistogram both = reads.latency;
  both.Merge(writes.latency);
  return both;
}

absl::StatusOr<std::unique_ptr<Workload>> StartWorkload(Volume& volume, const WorkloadSpec& spec,
                                                        Clock& clock) {
  auto workload = std::make_unique<WorkloadImpl>(volume, spec, clock);
  MDVOL_RETURN_IF_ERROR(workload->Start());
  return workload;
}

absl::StatusOr<std::vector<WorkloadResult>> RunTogether(
    Volume& volume, const std::vector<WorkloadSpec>& specs, const RunTimes& times, Clock& clock,
    const std::function<void(WindowEdge)>& at_edge) {
  const auto pass = [&clock](double seconds) {
    clock.SleepUntil(clock.NowNs() + static_cast<uint64_t>(seconds * 1e9));
  };
  std::vector<std::unique_ptr<Workload>> workloads;
  for (const WorkloadSpec& spec : specs) {
    MDVOL_ASSIGN_OR_RETURN(workloads.emplace_back(), StartWorkload(volume, spec, clock));
  }
  pass(times.warmup_seconds);
  for (const auto& workload : workloads) {
    workload->BeginMeasuring();
  }
  if (at_edge) {
    at_edge(WindowEdge::kBegin);
  }
  pass(times.seconds);
  for (const auto& workload : workloads) {
    workload->EndMeasuring();
  }
  if (at_edge) {
    at_edge(WindowEdge::kEnd);
  }
  std::vector<WorkloadResult> results;
  for (size_t i = 0; i < workloads.size(); ++i) {
    results.push_back(workloads[i]->Stop());
    if (results.back().errors != 0) {
      return Annotate(results.back().first_error,
                      absl::StrCat("workload ", specs[i].name, ": ", results.back().errors,
                                   " requests failed, the first"));
    }
  }
  return results;
}

absl::StatusOr<WorkloadResult> RunWorkload(Volume& volume, const WorkloadSpec& spec,
                                           const RunTimes& times, Clock& clock) {
  MDVOL_ASSIGN_OR_RETURN(std::vector<WorkloadResult> results,
                         RunTogether(volume, {spec}, times, clock));
  return std::move(results[0]);
}

}  // namespace mdvol::bench
