// See admission_device.h.
//
// gate_ counts the writes at the member, those that passed at once and those from the queue alike,
// and has a bit that sends every write to the lock: set while anybody waits, or while bytes are
// limited. A write that passes adds itself first and looks then; so does, at its end, whoever takes
// itself off. The bit is set under the lock before the room is looked at for the last time, so
// either he who waits sees the room, or he who leaves sees the bit.
//
// IoRequest::admission_word of a write: 0 passed uncounted, kPassed, kPassedInBytes, or the address
// of its WaitingWrite. Of a read: 0 not watched, else 1 + ReaderWatch's token.

#include "core/device/admission_device.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/check.h"
#include "core/device/admission_queue.h"
#include "core/device/admission_thread.h"
#include "core/device/reader_watch.h"

namespace mdvol {
namespace {

constexpr uint64_t kClosed = uint64_t{1} << 63;
constexpr uint64_t kPassed = 1;
constexpr uint64_t kPassedInBytes = 2;
// A ruling holds so long, if its judge does not change.
constexpr uint64_t kRulingNs = 1'000'000;
// So many of those that go next are looked at for one who sleeps and can take runs.
constexpr size_t kOwnersAsked = 8;

bool IsWrite(const IoRequest& request) {
  return request.kind == IoKind::kWrite || request.kind == IoKind::kZero;
}

std::unique_ptr<DispatchedRun> NewRun(WriteRun parts) {
  auto run = std::make_unique<DispatchedRun>();
  run->parts = std::move(parts);
  if (run->parts.size() == 1) {
    return run;
  }
  IoRequest& joined = run->joined;
  joined.kind = run->parts[0]->request->kind;
  joined.offset_bytes = run->parts[0]->request->offset_bytes;
  joined.pieces = 0;
  joined.is_sync = run->parts[0]->request->is_sync;
  for (const WaitingWrite* const part : run->parts) {
    const IoRequest& request = *part->request;
    joined.length_bytes += request.length_bytes;
    joined.pieces += request.pieces;
    joined.buffers.insert(joined.buffers.end(), request.buffers.begin(), request.buffers.end());
  }
  return run;
}

class AdmissionDeviceImpl final : public AdmissionDevice, public AdmissionWork {
 public:
  AdmissionDeviceImpl(std::unique_ptr<CountingDevice> inner, std::unique_ptr<AdmissionJudge> judge,
                      Clock& clock)
      : inner_(std::move(inner)), judge_(std::move(judge)), clock_(clock), readers_(clock) {
    absl::MutexLock lock(&mutex_);
    AskJudge(clock_.NowNs());
    CloseOrOpen();
  }

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }
  MemberIoCounts Counts() const override { return inner_->Counts(); }
  void SetRange(uint64_t begin_bytes, uint64_t end_bytes) override;
  size_t WaitingWrites() const override {
    absl::MutexLock lock(&mutex_);
    return queue_.size();
  }

  void Submit(IoRequest& request) override;
  void Wait(IoRequest& request) override;

  void EndPassed(IoRequest& request) override ABSL_LOCKS_EXCLUDED(mutex_);
  void EndRun(DispatchedRun& run) override ABSL_LOCKS_EXCLUDED(mutex_);
  void RunErrand(AdmissionThread& thread) override ABSL_LOCKS_EXCLUDED(mutex_);
  bool WantsHelp() const override { return wants_help_.load(); }

 private:
  bool IsInData(const IoRequest& request) const;
  bool TryPass();
  void SubmitWrite(IoRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);
  void WaitForWrite(IoRequest& request, WaitingWrite& write) ABSL_LOCKS_EXCLUDED(mutex_);
  void RunPartsAlone(DispatchedRun& run);
  void Leave(uint64_t counted_bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  InFlight AtMember() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AskJudge(uint64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refresh() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseOrOpen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeRuns(AdmissionThread& thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void HandOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteEnd(uint64_t counted_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<CountingDevice> inner_;
  const std::unique_ptr<AdmissionJudge> judge_;
  Clock& clock_;
  std::atomic<uint64_t> data_begin_bytes_{0};
  std::atomic<uint64_t> data_end_bytes_{0};
  ReaderWatch readers_;

  alignas(64) std::atomic<uint64_t> gate_{0};
  std::atomic<uint64_t> most_passing_{0};   // MostInFlight of the limits
  std::atomic<uint64_t> judge_version_{0};  // that the limits are of

  mutable absl::Mutex mutex_;
  AdmissionQueue queue_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // at the member, as far as they were counted
  uint64_t judged_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t note_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_errand_out_ ABSL_GUARDED_BY(mutex_) = false;
  // Who waits for a write here and sleeps, or has just woken.
  std::vector<AdmissionThread*> sleepers_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> wants_help_{false};
};

void AdmissionDeviceImpl::SetRange(uint64_t begin_bytes, uint64_t end_bytes) {
  inner_->SetRange(begin_bytes, end_bytes);
  data_begin_bytes_.store(begin_bytes, std::memory_order_relaxed);
  data_end_bytes_.store(end_bytes, std::memory_order_relaxed);
}

bool AdmissionDeviceImpl::IsInData(const IoRequest& request) const {
  return request.offset_bytes >= data_begin_bytes_.load(std::memory_order_relaxed) &&
         request.offset_bytes < data_end_bytes_.load(std::memory_order_relaxed);
}

void AdmissionDeviceImpl::Submit(IoRequest& request) {
  request.admission_word = 0;
  if (request.kind != IoKind::kFlush && IsInData(request)) {
    if (IsWrite(request)) {
      SubmitWrite(request);
      return;
    }
    if (request.serves_reader) {
      request.admission_word = 1 + readers_.Begin(gate_.load(std::memory_order_relaxed) != 0);
    }
  }
  inner_->Submit(request);
}

void AdmissionDeviceImpl::Wait(IoRequest& request) {
  if (IsWrite(request) && request.admission_word != 0) {
    AdmissionThread& thread = AdmissionThread::Current();
    if (request.admission_word > kPassedInBytes) {
      const std::unique_ptr<WaitingWrite> write(
          reinterpret_cast<WaitingWrite*>(request.admission_word));
      WaitForWrite(request, *write);
      return;
    }
    if (thread.ForgetPassed(request)) {
      EndPassed(request);
    }
    if (thread.has_taken()) {
      thread.EndTaken();
    }
    return;
  }
  inner_->Wait(request);
  if (request.kind == IoKind::kRead && request.admission_word != 0) {
    readers_.End(request.admission_word - 1, request.error == 0);
  }
}

// Without the lock. A write that finds no room takes itself off again and goes on under the lock:
// it may have hidden the room for a moment from him who waits, and looks for him there.
bool AdmissionDeviceImpl::TryPass() {
  if (readers_.HasNews() || judge_->version() != judge_version_.load(std::memory_order_relaxed)) {
    return false;
  }
  const uint64_t before = gate_.fetch_add(1);
  if (before < most_passing_.load(std::memory_order_relaxed)) {
    return true;  // the closed bit would make it a large number
  }
  gate_.fetch_sub(1);
  return false;
}

void AdmissionDeviceImpl::SubmitWrite(IoRequest& request) {
  AdmissionThread& thread = AdmissionThread::Current();
  // Now and then even those that could pass ask: what has happened at other members may matter.
  if (!thread.IsTurnToAsk() && TryPass()) {
    request.admission_word = kPassed;
    thread.NotePassed(*this, request);
    inner_->Submit(request);
    return;
  }
  bool passes = false;
  {
    absl::MutexLock lock(&mutex_);
    gate_.fetch_or(kClosed);
    Refresh();
    passes = queue_.MayPass(AtMember());
    if (passes) {
      gate_.fetch_add(1);
      bytes_ += request.length_bytes;
      request.admission_word = kPassedInBytes;
    } else {
      auto* const write = new WaitingWrite{&request, &thread};
      request.admission_word = reinterpret_cast<uintptr_t>(write);
      thread.NoteQueued(*this);
      queue_.Add(*write, AtMember());
      TakeRuns(thread);
    }
    CloseOrOpen();
  }
  if (passes) {
    thread.NotePassed(*this, request);
    inner_->Submit(request);
  }
}

void AdmissionDeviceImpl::WaitForWrite(IoRequest& request, WaitingWrite& write) {
  AdmissionThread& thread = *write.owner;
  while (true) {
    thread.EndTaken();
    {
      absl::MutexLock lock(&mutex_);
      std::erase(sleepers_, &thread);
      if (write.is_done) {
        break;
      }
      TakeRuns(thread);
      CloseOrOpen();
    }
    if (thread.has_taken() || thread.EndOnePassed()) {
      continue;
    }
    thread.BeginSleep(request);
    bool sleeps;
    {
      absl::MutexLock lock(&mutex_);
      sleeps = !write.is_done && !queue_.IsReady(AtMember());
      if (sleeps) {
        sleepers_.push_back(&thread);
      }
    }
    if (sleeps && !thread.Help()) {
      thread.Sleep();
    }
    thread.EndSleep();
  }
  thread.ForgetQueued(*this);
}

void AdmissionDeviceImpl::EndPassed(IoRequest& request) {
  inner_->Wait(request);
  Leave(request.admission_word == kPassedInBytes ? request.length_bytes : 0);
}

// The write is off the gate before anybody can look for the room that it leaves.
void AdmissionDeviceImpl::Leave(uint64_t counted_bytes) {
  if (counted_bytes == 0 && (gate_.fetch_sub(1) & kClosed) == 0) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  if (counted_bytes != 0) {
    gate_.fetch_sub(1);
  }
  NoteEnd(counted_bytes);
}

void AdmissionDeviceImpl::EndRun(DispatchedRun& run) {
  IoRequest& request = run.request();
  inner_->Wait(request);
  if (run.parts.size() > 1) {
    if (request.error != 0) {
      RunPartsAlone(run);
    } else {
      for (WaitingWrite* const part : run.parts) {
        part->request->error = 0;
      }
    }
  }
  const uint64_t counted_bytes = request.length_bytes;
  absl::MutexLock lock(&mutex_);
  gate_.fetch_sub(1);
  // Who sees his part done may be gone with it as soon as the lock is.
  for (WaitingWrite* const part : run.parts) {
    part->is_done = true;
    part->owner->WakeFor(*part->request);
  }
  NoteEnd(counted_bytes);
}

void AdmissionDeviceImpl::RunPartsAlone(DispatchedRun& run) {
  for (WaitingWrite* const part : run.parts) {
    inner_->Submit(*part->request);
    inner_->Wait(*part->request);
  }
}

void AdmissionDeviceImpl::RunErrand(AdmissionThread& thread) {
  absl::MutexLock lock(&mutex_);
  is_errand_out_ = false;
  wants_help_.store(false);
  TakeRuns(thread);
  CloseOrOpen();
}

InFlight AdmissionDeviceImpl::AtMember() const {
  return {static_cast<uint32_t>(gate_.load() & ~kClosed), bytes_};
}

void AdmissionDeviceImpl::AskJudge(uint64_t now_ns) {
  // Before the question: a judge that changes meanwhile is asked again.
  judge_version_.store(judge_->version(), std::memory_order_relaxed);
  AdmissionFacts facts;
  facts.now_ns = now_ns;
  facts.writes_in_flight = AtMember().writes;
  facts.writes_waiting = static_cast<uint32_t>(queue_.size());
  facts.reads = readers_.Facts(now_ns);
  facts.note = note_;
  const AdmissionRuling ruling = judge_->Judge(facts);
  if (ruling.learn) {
    readers_.Learn(now_ns);
  }
  note_ = ruling.note;
  judged_ns_ = now_ns;
  queue_.SetLimits(ruling.limits);
  most_passing_.store(queue_.MostInFlight(), std::memory_order_relaxed);
}

void AdmissionDeviceImpl::Refresh() {
  const uint64_t now_ns = clock_.NowNs();
  if (now_ns >= judged_ns_ + kRulingNs ||
      judge_->version() != judge_version_.load(std::memory_order_relaxed)) {
    AskJudge(now_ns);
  }
}

void AdmissionDeviceImpl::CloseOrOpen() {
  const bool is_open = queue_.empty() && queue_.limits().most_bytes == UINT64_MAX;
  if (is_open) {
    gate_.fetch_and(~kClosed);
  } else {
    gate_.fetch_or(kClosed);
  }
}

// Takes what may go, one batch at most: a thread whose member works inline, in Submit, would carry
// everybody's writes one after another. Gives the lock away while it submits.
void AdmissionDeviceImpl::TakeRuns(AdmissionThread& thread) {
  Refresh();
  const uint32_t most = queue_.limits().wake_batch;
  for (uint32_t taken = 0; taken < most && queue_.IsReady(AtMember()); ++taken) {
    WriteRun parts;
    queue_.Take(&parts);
    auto run = NewRun(std::move(parts));
    gate_.fetch_add(1);
    bytes_ += run->request().length_bytes;
    IoRequest& request = run->request();
    thread.NoteTaken(*this, std::move(run));
    mutex_.Unlock();
    inner_->Submit(request);
    mutex_.Lock();
  }
  HandOn();
}

// If there is room left for who waits: has somebody who sleeps come and take it. Whoever is awake
// comes by on his own, or looks before he goes to sleep elsewhere; but an owner who is awake may
// stand at the member with another's write, for long, while that other sleeps: so all who sleep
// here are asked, whether their writes still wait or not.
void AdmissionDeviceImpl::HandOn() {
  const InFlight at_member = AtMember();
  if (is_errand_out_ || queue_.empty() || !queue_.IsReady(at_member)) {
    return;
  }
  // Before anybody is asked: who is about to sleep either is asked or sees it.
  wants_help_.store(true);
  const size_t most = at_member.writes == 0 ? queue_.size() : kOwnersAsked;
  is_errand_out_ = queue_.FindNext(most, [this](const WaitingWrite& write) {
    return write.owner->SendOnErrand(*this);
  }) || std::any_of(sleepers_.begin(), sleepers_.end(), [this](AdmissionThread* thread) {
                     return thread->SendOnErrand(*this);
                   });
  wants_help_.store(!is_errand_out_);
}

void AdmissionDeviceImpl::NoteEnd(uint64_t counted_bytes) {
  bytes_ -= counted_bytes;
  queue_.NoteEnd(AtMember());
  Refresh();
  HandOn();
  CloseOrOpen();
}

}  // namespace

std::unique_ptr<AdmissionDevice> NewAdmissionDevice(std::unique_ptr<CountingDevice> inner,
                                                    std::unique_ptr<AdmissionJudge> judge,
                                                    Clock& clock) {
  return std::make_unique<AdmissionDeviceImpl>(std::move(inner), std::move(judge), clock);
}

}  // namespace mdvol
