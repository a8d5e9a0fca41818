// MDVOL_CHECK: assertions about our own logic, alive in every build type. A failed check is a bug
// in mdvol: it prints the expression and aborts, because going on could write wrong bytes. Never
// used on input: that gets a Status.

#ifndef MDVOL_CORE_BASE_CHECK_H_
#define MDVOL_CORE_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace mdvol::internal {

[[noreturn]] inline void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "mdvol: internal error: %s:%d: check failed: %s\n", file, line, expression);
  std::abort();
}

}  // namespace mdvol::internal

#define MDVOL_CHECK(expression)  \
  (static_cast<bool>(expression) \
       ? static_cast<void>(0)    \
       : ::mdvol::internal::CheckFailed(#expression, __FILE__, __LINE__))

#endif  // MDVOL_CORE_BASE_CHECK_H_
