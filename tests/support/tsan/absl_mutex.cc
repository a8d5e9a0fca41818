// absl's Mutex, CondVar, Notification and BlockingCounter over pthread, for ThreadSanitizer builds
// only.
//
// Debian's Abseil is not instrumented: TSan cannot see the atomics by which absl::Mutex orders
// threads and would report every access under a lock as a race. An executable that defines the same
// symbols takes precedence over the shared library, also for calls from inside that library, and
// TSan understands pthread's locks. So our code is checked with exactly the order that its locks
// give it, Abseil's own implementation is not.
//
// A Mutex is one pointer-sized word, 0 at first (constant-initialised ones included); here it holds
// a Lock that the first use makes. Conditions are evaluated under the lock and again after each
// change of it: every release of a Mutex wakes those who wait for a condition. CondVar::Signal
// wakes all sleepers, which its contract allows.

#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

// Copies of an absl::Status share a counted representation. The last one is dropped inside the
// library, where the counter's ordering is invisible; what is reported then is not a race.
extern "C" const char* __tsan_default_suppressions() {
  return "race:*absl*Status*UnrefNonInlined*\n";
}

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace {

struct Lock {
  pthread_rwlock_t rwlock;  // The Mutex itself.
  // Waiting for a condition: sleepers hold `turn` while they look at `releases`.
  pthread_mutex_t turn;
  pthread_cond_t released;
  uint64_t releases = 0;
  std::atomic<int> waiters{0};
  std::atomic<bool> writer_holds{false};
};

struct Signal {
  pthread_mutex_t turn;
  pthread_cond_t signalled;
  uint64_t signals = 0;
};

[[noreturn]] void Die(const char* what) {
  std::fprintf(stderr, "tsan absl::Mutex: %s\n", what);
  std::abort();
}

void Must(int error, const char* what) {
  if (error != 0) Die(what);
}

// The object behind a word of absl's, made by whoever comes first.
template <typename T, typename Init>
T* Behind(std::atomic<intptr_t>& word, Init init) {
  intptr_t seen = word.load(std::memory_order_acquire);
  if (seen != 0) return reinterpret_cast<T*>(seen);
  T* const made = new T;
  init(made);
  if (word.compare_exchange_strong(seen, reinterpret_cast<intptr_t>(made),
                                   std::memory_order_acq_rel)) {
    return made;
  }
  delete made;
  return reinterpret_cast<T*>(seen);
}

// Both classes have one member, the word; it is private, its place is not in doubt.
std::atomic<intptr_t>& WordOf(const void* object) {
  return *reinterpret_cast<std::atomic<intptr_t>*>(const_cast<void*>(object));
}
static_assert(sizeof(Mutex) == sizeof(std::atomic<intptr_t>));
static_assert(sizeof(CondVar) == sizeof(std::atomic<intptr_t>));

Lock* LockOf(const Mutex* mutex) {
  return Behind<Lock>(WordOf(mutex), [](Lock* lock) {
    pthread_rwlock_init(&lock->rwlock, nullptr);
    pthread_mutex_init(&lock->turn, nullptr);
    pthread_cond_init(&lock->released, nullptr);
  });
}

Signal* SignalOf(const CondVar* cond_var) {
  return Behind<Signal>(WordOf(cond_var), [](Signal* signal) {
    pthread_mutex_init(&signal->turn, nullptr);
    pthread_cond_init(&signal->signalled, nullptr);
  });
}

void Acquire(Lock* lock, bool exclusive) {
  if (exclusive) {
    Must(pthread_rwlock_wrlock(&lock->rwlock), "wrlock failed: locked twice by one thread?");
    lock->writer_holds.store(true, std::memory_order_relaxed);
  } else {
    Must(pthread_rwlock_rdlock(&lock->rwlock), "rdlock failed: locked twice by one thread?");
  }
}

void Release(Lock* lock, bool exclusive) {
  if (exclusive) lock->writer_holds.store(false, std::memory_order_relaxed);
  // Before the unlock: afterwards the Mutex may be gone, as whoever takes it next may destroy it.
  const bool wake = lock->waiters.load() != 0;
  if (wake) pthread_mutex_lock(&lock->turn);
  Must(pthread_rwlock_unlock(&lock->rwlock), "unlock failed: not locked?");
  if (!wake) return;
  ++lock->releases;
  pthread_cond_broadcast(&lock->released);
  pthread_mutex_unlock(&lock->turn);
}

bool HasDeadline(Time deadline) { return deadline != InfiniteFuture(); }

// Waits on `condition`, until `deadline` if there is one. False: the time is up.
bool Sleep(pthread_cond_t* condition, pthread_mutex_t* mutex, Time deadline) {
  if (!HasDeadline(deadline)) {
    pthread_cond_wait(condition, mutex);
    return true;
  }
  const timespec until = ToTimespec(deadline);
  return pthread_cond_timedwait(condition, mutex, &until) == 0;
}

// Called with the Mutex held and returns with it held; true if `condition` then holds.
bool WaitUntil(Mutex* mutex, const Condition& condition, Time deadline) {
  Lock* const lock = LockOf(mutex);
  const bool exclusive = lock->writer_holds.load(std::memory_order_relaxed);
  bool in_time = true;
  while (!condition.Eval()) {
    if (!in_time) return false;
    ++lock->waiters;
    pthread_mutex_lock(&lock->turn);
    const uint64_t seen = lock->releases;
    if (exclusive) lock->writer_holds.store(false, std::memory_order_relaxed);
    Must(pthread_rwlock_unlock(&lock->rwlock), "await without the lock");
    // Our own release counts for others who wait, not for ourselves.
    ++lock->releases;
    pthread_cond_broadcast(&lock->released);
    while (in_time && lock->releases == seen + 1) {
      in_time = Sleep(&lock->released, &lock->turn, deadline);
    }
    pthread_mutex_unlock(&lock->turn);
    Acquire(lock, exclusive);
    --lock->waiters;
  }
  return true;
}

Time After(Duration timeout) {
  return timeout == InfiniteDuration() ? InfiniteFuture() : Now() + timeout;
}

}  // namespace

// ---- Mutex
// -----------------------------------------------------------------------------------------

Mutex::~Mutex() {
  auto* const lock = reinterpret_cast<struct Lock*>(WordOf(this).load(std::memory_order_acquire));
  if (lock != nullptr) {
    // A releaser may still be in its last steps, between giving up the Mutex and waking others.
    pthread_mutex_lock(&lock->turn);
    pthread_mutex_unlock(&lock->turn);
    pthread_rwlock_destroy(&lock->rwlock);
    pthread_mutex_destroy(&lock->turn);
    pthread_cond_destroy(&lock->released);
    delete lock;
  }
  __tsan_mutex_destroy(this, 0);  // The header's constructor made one.
}

void Mutex::Lock() { Acquire(LockOf(this), true); }
void Mutex::Unlock() { Release(LockOf(this), true); }
void Mutex::ReaderLock() { Acquire(LockOf(this), false); }
void Mutex::ReaderUnlock() { Release(LockOf(this), false); }

bool Mutex::TryLock() {
  if (pthread_rwlock_trywrlock(&LockOf(this)->rwlock) != 0) return false;
  LockOf(this)->writer_holds.store(true, std::memory_order_relaxed);
  return true;
}

bool Mutex::ReaderTryLock() { return pthread_rwlock_tryrdlock(&LockOf(this)->rwlock) == 0; }

void Mutex::AssertHeld() const {
  if (!LockOf(this)->writer_holds.load(std::memory_order_relaxed)) Die("AssertHeld: not held");
}
void Mutex::AssertReaderHeld() const {}
void Mutex::AssertNotHeld() const {}
void Mutex::ForgetDeadlockInfo() {}
void Mutex::EnableDebugLog(const char*) {}
void Mutex::EnableInvariantDebugging(void (*)(void*), void*) {}

void Mutex::Await(const Condition& cond) { WaitUntil(this, cond, InfiniteFuture()); }
bool Mutex::AwaitWithTimeout(const Condition& cond, Duration timeout) {
  return WaitUntil(this, cond, After(timeout));
}
bool Mutex::AwaitWithDeadline(const Condition& cond, Time deadline) {
  return WaitUntil(this, cond, deadline);
}

void Mutex::LockWhen(const Condition& cond) {
  Lock();
  WaitUntil(this, cond, InfiniteFuture());
}
bool Mutex::LockWhenWithTimeout(const Condition& cond, Duration timeout) {
  return LockWhenWithDeadline(cond, After(timeout));
}
bool Mutex::LockWhenWithDeadline(const Condition& cond, Time deadline) {
  Lock();
  return WaitUntil(this, cond, deadline);
}
void Mutex::ReaderLockWhen(const Condition& cond) {
  ReaderLock();
  WaitUntil(this, cond, InfiniteFuture());
}
bool Mutex::ReaderLockWhenWithTimeout(const Condition& cond, Duration timeout) {
  return ReaderLockWhenWithDeadline(cond, After(timeout));
}
bool Mutex::ReaderLockWhenWithDeadline(const Condition& cond, Time deadline) {
  ReaderLock();
  return WaitUntil(this, cond, deadline);
}

void ReleasableMutexLock::Release() {
  mu_->Unlock();
  mu_ = nullptr;
}

// ---- CondVar
// ---------------------------------------------------------------------------------------

CondVar::~CondVar() {
  auto* const signal =
      reinterpret_cast<struct Signal*>(WordOf(this).load(std::memory_order_acquire));
  if (signal == nullptr) return;
  pthread_mutex_lock(&signal->turn);  // As in ~Mutex: the signaller may not have left yet.
  pthread_mutex_unlock(&signal->turn);
  pthread_mutex_destroy(&signal->turn);
  pthread_cond_destroy(&signal->signalled);
  delete signal;
}

bool CondVar::WaitWithDeadline(Mutex* mu, Time deadline) {
  struct Signal* const signal = SignalOf(this);
  struct Lock* const lock = LockOf(mu);
  const bool exclusive = lock->writer_holds.load(std::memory_order_relaxed);
  pthread_mutex_lock(&signal->turn);
  const uint64_t seen = signal->signals;
  Release(lock, exclusive);
  bool in_time = true;
  while (in_time && signal->signals == seen) {
    in_time = Sleep(&signal->signalled, &signal->turn, deadline);
  }
  pthread_mutex_unlock(&signal->turn);
  Acquire(lock, exclusive);
  return !in_time;
}

void CondVar::Wait(Mutex* mu) { WaitWithDeadline(mu, InfiniteFuture()); }
bool CondVar::WaitWithTimeout(Mutex* mu, Duration timeout) {
  return WaitWithDeadline(mu, After(timeout));
}

void CondVar::Signal() { SignalAll(); }

void CondVar::SignalAll() {
  struct Signal* const signal = SignalOf(this);
  pthread_mutex_lock(&signal->turn);
  ++signal->signals;
  pthread_cond_broadcast(&signal->signalled);
  pthread_mutex_unlock(&signal->turn);
}

void CondVar::EnableDebugLog(const char*) {}

// ---- Notification
// ----------------------------------------------------------------------------------

Notification::~Notification() { MutexLock lock(&mutex_); }

void Notification::Notify() {
  MutexLock lock(&mutex_);
  notified_yet_.store(true, std::memory_order_release);
}

bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  MutexLock lock(&mutex_);
  return WaitUntil(&mutex_, Condition(this, &Notification::HasBeenNotified), deadline);
}

void Notification::WaitForNotification() const {
  WaitForNotificationWithDeadline(InfiniteFuture());
}
bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  return WaitForNotificationWithDeadline(After(timeout));
}

// ---- BlockingCounter
// -------------------------------------------------------------------------------

bool BlockingCounter::DecrementCount() {
  MutexLock lock(&lock_);
  if (count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  done_ = true;
  return true;
}

void BlockingCounter::Wait() {
  MutexLock lock(&lock_);
  WaitUntil(&lock_, Condition(&done_), InfiniteFuture());
}

ABSL_NAMESPACE_END
}  // namespace absl
