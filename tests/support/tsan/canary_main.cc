// A program with one data race for ThreadSanitizer to find, and increments under a lock that are
// none. Built in TSan builds only; ctest expects exactly one report.
//
// Each thread touches `unguarded` after its last use of the lock, so that no schedule orders the
// two.

#include <thread>

#include "absl/synchronization/mutex.h"

namespace {

int unguarded = 0;
int guarded = 0;
absl::Mutex mutex;

void Work() {
  {
    absl::MutexLock lock(&mutex);
    ++guarded;
  }
  ++unguarded;
}

}  // namespace

int main() {
  std::thread other(Work);
  Work();
  other.join();
  return 0;
}
