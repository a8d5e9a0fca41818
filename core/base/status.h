// Errors: absl::Status by value, carrying the errno that a system call or a FUSE reply needs.
//
// absl::ErrnoToStatus folds several errnos into one code (EIO becomes UNKNOWN, ENOSPC and ENOMEM
// become the same), so the errno travels as a payload of its own. A message is one clear line:
// what, where, remedy. Thread-safe by value.

#ifndef MDVOL_CORE_BASE_STATUS_H_
#define MDVOL_CORE_BASE_STATUS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mdvol {

// An error with `error_number` (a positive errno) and exactly `message`.
absl::Status ErrnoStatus(int error_number, std::string_view message);

// As above, with ": " and strerror(error_number) appended to the message.
absl::Status SystemError(int error_number, std::string_view message);

// An error in what the user asked for: EINVAL, and exit code 2 where it reaches the command line.
absl::Status UsageError(std::string_view message);

// The errno of `status`: 0 when OK; EIO when an error carries none.
int ErrnoOf(const absl::Status& status);

// True for an error made by UsageError, also after Annotate.
bool IsUsageError(const absl::Status& status);

// The message as a std::string ("" when OK).
std::string MessageOf(const absl::Status& status);

// `status` with "prefix: " before its message; errno and kind are kept. OK stays OK.
absl::Status Annotate(const absl::Status& status, std::string_view prefix);

}  // namespace mdvol

// Leaves the calling function with the error when `expression` (an absl::Status) is one.
#define MDVOL_RETURN_IF_ERROR(expression)                                 \
  do {                                                                    \
    if (absl::Status mdvol_status_ = (expression); !mdvol_status_.ok()) { \
      return mdvol_status_;                                               \
    }                                                                     \
  } while (false)

#define MDVOL_STATUS_CONCAT_INNER_(a, b) a##b
#define MDVOL_STATUS_CONCAT_(a, b) MDVOL_STATUS_CONCAT_INNER_(a, b)

// `declaration` receives the value of `expression` (an absl::StatusOr), or the calling function
// returns its error.
#define MDVOL_ASSIGN_OR_RETURN(declaration, expression) \
  MDVOL_ASSIGN_OR_RETURN_(MDVOL_STATUS_CONCAT_(mdvol_statusor_, __LINE__), declaration, expression)
#define MDVOL_ASSIGN_OR_RETURN_(statusor, declaration, expression) \
  auto statusor = (expression);                                    \
  if (!statusor.ok()) {                                            \
    return std::move(statusor).status();                           \
  }                                                                \
  declaration = *std::move(statusor)

#endif  // MDVOL_CORE_BASE_STATUS_H_
