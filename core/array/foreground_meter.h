// ForegroundMeter: the reads, writes and zeroes that users of the volume ask for while a resync
// runs, and how long they wait for them: the facts by which a resync paces itself. A request is
// quiet if no window of the resync was in flight at any time between its beginning and its end, and
// disturbed otherwise; how much longer the disturbed take is what the resync costs, whatever the
// members are like.
//
// Costs one relaxed load per request while no resync runs; otherwise two looks at the clock and
// three relaxed additions to counters that few threads share. Counters are each exact, together a
// snapshot only when nothing is in flight. Thread-safe.

#ifndef MDVOL_CORE_ARRAY_FOREGROUND_METER_H_
#define MDVOL_CORE_ARRAY_FOREGROUND_METER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/clock.h"
#include "core/policy/resync_pacing.h"

namespace mdvol {

class ForegroundMeter {
 public:
  explicit ForegroundMeter(const Clock& clock) : clock_(clock) {}
  ForegroundMeter(const ForegroundMeter&) = delete;
  ForegroundMeter& operator=(const ForegroundMeter&) = delete;

  // A user's request, for as long as it lives. One that fails says nothing about latency.
  class Request {
   public:
    explicit Request(ForegroundMeter& meter)
        : meter_(meter.is_on_.load(std::memory_order_relaxed) ? &meter : nullptr) {
      if (meter_ != nullptr) {
        Begin();
      }
    }
    ~Request() {
      if (meter_ != nullptr) {
        End();
      }
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    void Failed() { has_failed_ = true; }

   private:
    void Begin();
    void End();

    ForegroundMeter* const meter_;
    uint64_t begun_ns_ = 0;
    uint64_t epoch_ = 0;
    bool has_failed_ = false;
  };

  // By whoever runs the resync, one thread at a time. Requests that are under way at Start are not
  // seen.
  void Start() {
    SetDisturbed(false);
    is_on_.store(true, std::memory_order_relaxed);
  }
  void Stop() { is_on_.store(false, std::memory_order_relaxed); }
  // Whether a window is in flight.
  void SetDisturbed(bool is_disturbed);

  ResyncForegroundFacts Read() const;

 private:
  // A cache line of its own; a thread always uses the same.
  struct alignas(64) Shard {
    std::atomic<uint64_t> begun{0};  // less those that failed
    std::atomic<uint64_t> quiet{0};
    std::atomic<uint64_t> quiet_ns{0};
    std::atomic<uint64_t> disturbed{0};
    std::atomic<uint64_t> disturbed_ns{0};
  };
  static constexpr size_t kShards = 16;

  Shard& MyShard();

  const Clock& clock_;
  std::atomic<bool> is_on_{false};
  // Odd while a window is in flight; grows with every change.
  std::atomic<uint64_t> epoch_{0};
  std::array<Shard, kShards> shards_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_ARRAY_FOREGROUND_METER_H_
