// See admission_thread.h.

#include "core/device/admission_thread.h"

#include <algorithm>
#include <utility>

namespace mdvol {

AdmissionThread& AdmissionThread::Current() {
  thread_local AdmissionThread thread;
  return thread;
}

// Mostly the first: a batch waits in the order in which it submits.
bool AdmissionThread::ForgetPassed(const IoRequest& request) {
  const auto found = std::find_if(passed_.begin(), passed_.end(), [&request](const Passed& passed) {
    return passed.request == &request;
  });
  if (found == passed_.end()) {
    return false;
  }
  passed_.erase(found);
  return true;
}

void AdmissionThread::NoteTaken(AdmissionWork& device, std::unique_ptr<DispatchedRun> run) {
  taken_.push_back({&device, std::move(run)});
}

void AdmissionThread::EndTaken() {
  // EndRun takes no further runs.
  std::vector<Taken> taken = std::exchange(taken_, {});
  for (const Taken& one : taken) {
    one.device->EndRun(*one.run);
  }
}

bool AdmissionThread::EndOnePassed() {
  if (passed_.empty()) {
    return false;
  }
  const Passed oldest = passed_.front();
  passed_.erase(passed_.begin());
  oldest.device->EndPassed(*oldest.request);
  return true;
}

void AdmissionThread::ForgetQueued(const AdmissionWork& device) {
  queued_at_.erase(std::find(queued_at_.begin(), queued_at_.end(), &device));
}

bool AdmissionThread::Help() {
  for (AdmissionWork* const device : queued_at_) {
    if (device->WantsHelp()) {
      device->RunErrand(*this);
      return true;
    }
  }
  return false;
}

void AdmissionThread::BeginSleep(const IoRequest& awaited) {
  absl::MutexLock lock(&mutex_);
  awaited_ = &awaited;
  is_poked_ = false;
}

void AdmissionThread::Sleep() {
  absl::MutexLock lock(&mutex_);
  while (!is_poked_) {
    poked_cv_.Wait(&mutex_);
  }
}

void AdmissionThread::EndSleep() {
  absl::InlinedVector<AdmissionWork*, 4> errands;
  {
    absl::MutexLock lock(&mutex_);
    awaited_ = nullptr;
    errands.swap(errands_);
  }
  for (AdmissionWork* const device : errands) {
    device->RunErrand(*this);
  }
}

bool AdmissionThread::SendOnErrand(AdmissionWork& device) {
  absl::MutexLock lock(&mutex_);
  if (awaited_ == nullptr) {
    return false;
  }
  errands_.push_back(&device);
  is_poked_ = true;
  poked_cv_.Signal();
  return true;
}

bool AdmissionThread::WakeFor(const IoRequest& done) {
  absl::MutexLock lock(&mutex_);
  if (awaited_ != &done) {
    return false;
  }
  is_poked_ = true;
  poked_cv_.Signal();
  return true;
}

}  // namespace mdvol
