// AdmissionThread: what the admission devices know of one caller's thread: which of its requests it
// still has to wait for at the members, which runs it has taken upon itself, and how to wake it.
//
// Nobody has a thread of its own to serve a queue: threads that wait do it for each other. A thread
// that takes a run submits it and waits for it, so that every request is waited for by the thread
// that submitted it. A thread sleeps only when it waits for nothing at any member, so that whatever
// is in flight has somebody who awaits its end, and nobody sleeps while holding what others sleep
// for. A sleeper is woken when the request it waits for has been done by another, or by an errand:
// a device that has room asks it to take runs there. An errand is never refused and never
// forgotten.
//
// Everything but the pokes is for the thread itself. Locks: a device's first, then the thread's.

#ifndef MDVOL_CORE_DEVICE_ADMISSION_THREAD_H_
#define MDVOL_CORE_DEVICE_ADMISSION_THREAD_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "core/device/admission_queue.h"
#include "core/device/member_device.h"

namespace mdvol {

// A run at the member. One caller's request goes as it is; those of several are joined.
struct DispatchedRun {
  WriteRun parts;
  IoRequest joined;

  IoRequest& request() { return parts.size() == 1 ? *parts[0]->request : joined; }
};

// What a thread does at a device for others or for itself.
class AdmissionWork {
 public:
  virtual ~AdmissionWork() = default;
  // Waits for a write of the thread's own that went in at once, before its caller does.
  virtual void EndPassed(IoRequest& request) = 0;
  // Waits for a run that the thread took, and answers for it.
  virtual void EndRun(DispatchedRun& run) = 0;
  // Takes runs.
  virtual void RunErrand(AdmissionThread& thread) = 0;
  // Whether it has looked for somebody to take runs and found nobody asleep.
  virtual bool WantsHelp() const = 0;
};

class AdmissionThread {
 public:
  static AdmissionThread& Current();

  AdmissionThread(const AdmissionThread&) = delete;
  AdmissionThread& operator=(const AdmissionThread&) = delete;

  // True for one in so many calls.
  bool IsTurnToAsk() { return ++passes_ % 32 == 0; }

  // Writes that went in at once and are to be waited for.
  void NotePassed(AdmissionWork& device, IoRequest& request) {
    passed_.push_back({&device, &request});
  }
  // False when it has been waited for already.
  bool ForgetPassed(const IoRequest& request);

  void NoteTaken(AdmissionWork& device, std::unique_ptr<DispatchedRun> run);
  bool has_taken() const { return !taken_.empty(); }
  // Waits for all runs that it took, oldest first.
  void EndTaken();

  // Waits for the oldest of the writes that went in at once. False if there is none.
  bool EndOnePassed();

  // Where a write of the thread's own waits.
  void NoteQueued(AdmissionWork& device) { queued_at_.push_back(&device); }
  void ForgetQueued(const AdmissionWork& device);
  // Runs an errand where help is wanted. False if it is wanted nowhere.
  bool Help();

  // Between BeginSleep and EndSleep the thread can be poked. It looks once more for a reason to
  // stay awake in between, Help among them, and calls Sleep if there is none.
  void BeginSleep(const IoRequest& awaited) ABSL_LOCKS_EXCLUDED(mutex_);
  void Sleep() ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the errands that have come.
  void EndSleep() ABSL_LOCKS_EXCLUDED(mutex_);

  // By other threads, under a lock that keeps this one from leaving. False: it does not sleep, or
  // waits for another request.
  bool SendOnErrand(AdmissionWork& device) ABSL_LOCKS_EXCLUDED(mutex_);
  bool WakeFor(const IoRequest& done) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Passed {
    AdmissionWork* device;
    IoRequest* request;
  };
  struct Taken {
    AdmissionWork* device;
    std::unique_ptr<DispatchedRun> run;
  };

  AdmissionThread() = default;

  uint32_t passes_ = 0;
  absl::InlinedVector<Passed, 16> passed_;
  std::vector<Taken> taken_;
  absl::InlinedVector<AdmissionWork*, 16> queued_at_;

  absl::Mutex mutex_;
  absl::CondVar poked_cv_;
  const IoRequest* awaited_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null: awake
  bool is_poked_ ABSL_GUARDED_BY(mutex_) = false;
  absl::InlinedVector<AdmissionWork*, 4> errands_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_ADMISSION_THREAD_H_
