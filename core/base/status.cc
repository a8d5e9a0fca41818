// See status.h. The payloads are keyed by URLs that nothing else uses; their presence is the fact,
// their text the value.

#include "core/base/status.h"

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/cord.h"

namespace mdvol {
namespace {

constexpr char kErrnoUrl[] = "mdvol/errno";
constexpr char kUsageUrl[] = "mdvol/usage";

}  // namespace

absl::Status ErrnoStatus(int error_number, std::string_view message) {
  absl::Status status(absl::StatusCode::kUnknown, std::string(message));
  status.SetPayload(kErrnoUrl, absl::Cord(std::to_string(error_number)));
  return status;
}

absl::Status SystemError(int error_number, std::string_view message) {
  std::string text(message);
  text += ": ";
  text += std::generic_category().message(error_number);
  return ErrnoStatus(error_number, text);
}

absl::Status UsageError(std::string_view message) {
  absl::Status status = ErrnoStatus(EINVAL, message);
  status.SetPayload(kUsageUrl, absl::Cord("1"));
  return status;
}

int ErrnoOf(const absl::Status& status) {
  if (status.ok()) {
    return 0;
  }
  const auto payload = status.GetPayload(kErrnoUrl);
  if (!payload.has_value()) {
    return EIO;
  }
  const std::string text(*payload);
  int value = EIO;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kUsageUrl).has_value(); }

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

absl::Status Annotate(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) {
    return status;
  }
  std::string text(prefix);
  text += ": ";
  text += MessageOf(status);
  absl::Status annotated(status.code(), text);
  status.ForEachPayload(
      [&annotated](auto url, const absl::Cord& payload) { annotated.SetPayload(url, payload); });
  return annotated;
}

}  // namespace mdvol
