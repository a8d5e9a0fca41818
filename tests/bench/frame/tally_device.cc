// See tally_device.h.

#include "tests/bench/frame/tally_device.h"

#include <atomic>
#include <string>
#include <utility>

namespace mdvol::bench {
namespace {

thread_local bool is_foreground = false;

void Increase(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

uint64_t Load(const std::atomic<uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A cache line of its own, so that kinds do not slow each other down.
struct alignas(64) AtomicTally {
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> merged = 0;
  std::atomic<uint64_t> sequential = 0;
  std::atomic<uint64_t> last_end_bytes = 0;

  void Count(const IoRequest& request) {
    Increase(requests, 1);
    Increase(bytes, request.length_bytes);
    Increase(merged, request.pieces > 1 ? request.pieces - 1 : 0);
    const uint64_t end_bytes = request.offset_bytes + request.length_bytes;
    const uint64_t last = last_end_bytes.exchange(end_bytes, std::memory_order_relaxed);
    Increase(sequential, last == request.offset_bytes ? 1 : 0);
  }

  Tally Snapshot() const { return {Load(requests), Load(bytes), Load(merged), Load(sequential)}; }
};

struct AtomicClassTally {
  AtomicTally reads;
  AtomicTally writes;
  std::atomic<uint64_t> flushes = 0;
};

class TallyDeviceImpl final : public TallyDevice {
 public:
  TallyDeviceImpl(std::unique_ptr<MemberDevice> inner, ByteRange data)
      : inner_(std::move(inner)), data_(data) {}

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }

  void Submit(IoRequest& request) override {
    AtomicClassTally& tally = classes_[static_cast<size_t>(ClassOf(request))];
    if (request.kind == IoKind::kFlush) {
      Increase(tally.flushes, 1);
    } else {
      (request.kind == IoKind::kRead ? tally.reads : tally.writes).Count(request);
    }
    if (IsDataWrite(request)) {
      const uint64_t at_once = writes_at_once_.fetch_add(1, std::memory_order_relaxed) + 1;
      uint64_t most = Load(most_writes_at_once_);
      while (most < at_once && !most_writes_at_once_.compare_exchange_weak(
                                   most, at_once, std::memory_order_relaxed)) {
      }
    }
    inner_->Submit(request);
  }

  void Wait(IoRequest& request) override {
    inner_->Wait(request);
    if (IsDataWrite(request)) {
      writes_at_once_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

  MemberTally Counts() const override {
    MemberTally counts;
    for (size_t i = 0; i < kIoClasses; ++i) {
      counts.classes[i] = {classes_[i].reads.Snapshot(), classes_[i].writes.Snapshot(),
                           Load(classes_[i].flushes)};
    }
    return counts;
  }

  uint64_t MostWritesAtOnce() const override { return Load(most_writes_at_once_); }
  void ResetMostWritesAtOnce() override {
    most_writes_at_once_.store(Load(writes_at_once_), std::memory_order_relaxed);
  }

 private:
  bool IsData(const IoRequest& request) const {
    return request.offset_bytes >= data_.begin && request.offset_bytes < data_.end;
  }
  bool IsDataWrite(const IoRequest& request) const {
    return request.kind == IoKind::kWrite && IsData(request);
  }
  IoClass ClassOf(const IoRequest& request) const {
    if (request.kind != IoKind::kFlush && !IsData(request)) {
      return IoClass::kMetadata;
    }
    return is_foreground ? IoClass::kForeground : IoClass::kSync;
  }

  const std::unique_ptr<MemberDevice> inner_;
  const ByteRange data_;
  std::array<AtomicClassTally, kIoClasses> classes_;
  std::atomic<uint64_t> writes_at_once_ = 0;
  std::atomic<uint64_t> most_writes_at_once_ = 0;
};

}  // namespace

ForegroundThread::ForegroundThread() { is_foreground = true; }
ForegroundThread::~ForegroundThread() { is_foreground = false; }

double Tally::MeanBytes() const { return Share(bytes, requests); }
double Tally::SequentialShare() const { return Share(sequential, requests); }

Tally& Tally::operator+=(const Tally& other) {
  requests += other.requests;
  bytes += other.bytes;
  merged += other.merged;
  sequential += other.sequential;
  return *this;
}

Tally Tally::operator-(const Tally& earlier) const {
  return {requests - earlier.requests, bytes - earlier.bytes, merged - earlier.merged,
          sequential - earlier.sequential};
}

Tally ClassTally::All() const {
  Tally all = reads;
  all += writes;
  return all;
}

ClassTally& ClassTally::operator+=(const ClassTally& other) {
  reads += other.reads;
  writes += other.writes;
  flushes += other.flushes;
  return *this;
}

ClassTally ClassTally::operator-(const ClassTally& earlier) const {
  return {reads - earlier.reads, writes - earlier.writes, flushes - earlier.flushes};
}

ClassTally MemberTally::Data() const {
  ClassTally data = (*this)[IoClass::kForeground];
  data += (*this)[IoClass::kSync];
  return data;
}

MemberTally& MemberTally::operator+=(const MemberTally& other) {
  for (size_t i = 0; i < kIoClasses; ++i) {
    classes[i] += other.classes[i];
  }
  return *this;
}

MemberTally MemberTally::operator-(const MemberTally& earlier) const {
  MemberTally difference;
  for (size_t i = 0; i < kIoClasses; ++i) {
    difference.classes[i] = classes[i] - earlier.classes[i];
  }
  return difference;
}

std::unique_ptr<TallyDevice> NewTallyDevice(std::unique_ptr<MemberDevice> inner, ByteRange data) {
  return std::make_unique<TallyDeviceImpl>(std::move(inner), data);
}

}  // namespace mdvol::bench
