// See worker.h.

#include "fuse/worker.h"

#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "absl/time/time.h"
#include "core/base/aligned_buffer.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "fuse/negotiate.h"

namespace mdvol {

// Where the data of a write begins in a request.
static constexpr size_t kWriteDataOffset = sizeof(fuse_in_header) + sizeof(fuse_write_in);

// What libfuse offers the kernel to fill, before and after the negotiation: the largest write and a
// page of header. The rest of what is allocated is room for a library that offers more; the kernel
// sends no more than was negotiated, and untouched memory costs nothing.
static constexpr size_t kReceiveBytes = 2 * kMaxRequestBytes;

// A memory block whose byte kWriteDataOffset is page-aligned.
class WorkerPool::ReceiveBuffer {
 public:
  ReceiveBuffer() : memory_(kBufferAlignment + kReceiveBytes) {
    buffer_.mem = memory_.data() + kBufferAlignment - kWriteDataOffset;
  }

  // Positive when a request came, 0 when the session is over, otherwise a negative errno.
  int Receive(fuse_session* session) { return fuse_session_receive_buf(session, &buffer_); }
  void Process(fuse_session* session) { fuse_session_process_buf(session, &buffer_); }

 private:
  static_assert(kWriteDataOffset < kBufferAlignment);

  AlignedBuffer memory_;
  fuse_buf buffer_{};
};

namespace {

// Sent to a worker to get it out of its wait for a request.
constexpr int kWakeSignal = SIGUSR1;

void InstallWakeSignal() {
  struct sigaction action {};
  action.sa_handler = [](int) {};  // Without SA_RESTART: the wait ends with EINTR.
  sigemptyset(&action.sa_mask);
  sigaction(kWakeSignal, &action, nullptr);
}

}  // namespace

WorkerPool::WorkerPool(fuse_session* session, uint32_t max_workers, std::function<void()> ended)
    : session_(session), max_workers_(max_workers), ended_(std::move(ended)) {
  InstallWakeSignal();
}

WorkerPool::~WorkerPool() {
  absl::MutexLock lock(&mutex_);
  MDVOL_CHECK(running_ == 0);
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

absl::Status WorkerPool::ServeOne() {
  ReceiveBuffer buffer;
  int result = -EINTR;
  while (result == -EINTR) {
    result = buffer.Receive(session_);
  }
  if (result <= 0) {
    return SystemError(result == 0 ? ENOTCONN : -result, "the kernel's FUSE device");
  }
  buffer.Process(session_);
  return absl::OkStatus();
}

void WorkerPool::Start() {
  absl::MutexLock lock(&mutex_);
  AddWorker();
}

void WorkerPool::AddWorker() {
  // Signals are the business of the thread that waits for them (session.h).
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, kWakeSignal);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    auto buffer = std::make_shared<ReceiveBuffer>();
    threads_.emplace_back([this, buffer] { Work(*buffer); });
    ++running_;
    idle_.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::system_error&) {
    // Out of threads: those that run carry on alone. The first cannot be done without.
    MDVOL_CHECK(running_ > 0);
  } catch (const std::bad_alloc&) {
    MDVOL_CHECK(running_ > 0);  // Out of memory: the same.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void WorkerPool::Work(ReceiveBuffer& buffer) {
  pthread_setname_np(pthread_self(), "mdvol-worker");
  while (fuse_session_exited(session_) == 0) {
    const int result = buffer.Receive(session_);
    if (result == -EINTR || result == -EAGAIN) {
      continue;
    }
    if (result <= 0) {
      fuse_session_exit(session_);
      break;
    }
    BecomeBusy();
    buffer.Process(session_);
    BecomeIdle();
  }
  Leave();
}

void WorkerPool::BecomeBusy() {
  if (idle_.fetch_sub(1, std::memory_order_relaxed) > 1) {
    return;
  }
  absl::MutexLock lock(&mutex_);
  if (running_ < max_workers_ && fuse_session_exited(session_) == 0 &&
      idle_.load(std::memory_order_relaxed) <= 0) {
    AddWorker();
  }
}

void WorkerPool::Leave() {
  bool is_last = false;
  {
    absl::MutexLock lock(&mutex_);
    is_last = --running_ == 0;
  }
  if (is_last) {
    ended_();
  }
}

void WorkerPool::Stop() {
  fuse_session_exit(session_);
  // A signal that arrives just before a worker begins to wait is lost, so it is sent until all have
  // gone.
  const auto all_ended = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return running_ == 0; };
  absl::MutexLock lock(&mutex_);
  do {
    for (std::thread& thread : threads_) {
      pthread_kill(thread.native_handle(), kWakeSignal);
    }
  } while (!mutex_.AwaitWithTimeout(absl::Condition(&all_ended), absl::Milliseconds(10)));
}

}  // namespace mdvol
