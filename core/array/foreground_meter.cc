// See foreground_meter.h.

#include "core/array/foreground_meter.h"

namespace mdvol {
namespace {

void Increase(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace

ForegroundMeter::Shard& ForegroundMeter::MyShard() {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shards_[mine];
}

void ForegroundMeter::Request::Begin() {
  Increase(meter_->MyShard().begun, 1);
  epoch_ = meter_->epoch_.load(std::memory_order_relaxed);
  begun_ns_ = meter_->clock_.NowNs();
}

void ForegroundMeter::Request::End() {
  Shard& shard = meter_->MyShard();
  if (has_failed_) {
    shard.begun.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  const uint64_t took_ns = meter_->clock_.NowNs() - begun_ns_;
  const bool is_quiet = epoch_ % 2 == 0 && epoch_ == meter_->epoch_.load(std::memory_order_relaxed);
  Increase(is_quiet ? shard.quiet_ns : shard.disturbed_ns, took_ns);
  Increase(is_quiet ? shard.quiet : shard.disturbed, 1);
}

void ForegroundMeter::SetDisturbed(bool is_disturbed) {
  const uint64_t epoch = epoch_.load(std::memory_order_relaxed);
  if ((epoch % 2 != 0) != is_disturbed) {
    epoch_.store(epoch + 1, std::memory_order_relaxed);
  }
}

// What has ended is read first: what ends meanwhile then counts as in flight, and the difference
// is never negative but for what is added out of order, which the clamp takes.
ResyncForegroundFacts ForegroundMeter::Read() const {
  ResyncForegroundFacts facts;
  uint64_t begun = 0;
  for (const Shard& shard : shards_) {
    facts.quiet.count += shard.quiet.load(std::memory_order_relaxed);
    facts.quiet.sum_ns += shard.quiet_ns.load(std::memory_order_relaxed);
    facts.disturbed.count += shard.disturbed.load(std::memory_order_relaxed);
    facts.disturbed.sum_ns += shard.disturbed_ns.load(std::memory_order_relaxed);
  }
  for (const Shard& shard : shards_) {
    begun += shard.begun.load(std::memory_order_relaxed);
  }
  const uint64_t ended = facts.quiet.count + facts.disturbed.count;
  facts.in_flight = begun > ended ? begun - ended : 0;
  return facts;
}

}  // namespace mdvol
