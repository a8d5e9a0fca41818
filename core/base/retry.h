// RetryOnEintr: repeats a system call for as long as a signal interrupts it.

#ifndef MDVOL_CORE_BASE_RETRY_H_
#define MDVOL_CORE_BASE_RETRY_H_

#include <cerrno>

namespace mdvol {

// `call` returns a negative value and sets errno when it fails, as system calls do.
template <typename Call>
auto RetryOnEintr(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

}  // namespace mdvol

#endif  // MDVOL_CORE_BASE_RETRY_H_
