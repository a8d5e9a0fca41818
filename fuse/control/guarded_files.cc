// See guarded_files.h.

#include "fuse/control/guarded_files.h"

#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include "core/base/status.h"

namespace mdvol {
namespace {

// What `read` returns, or `tell`(errno, why) when it throws.
template <typename Read, typename Tell>
auto Guard(const Read& read, const Tell& tell) -> decltype(read()) {
  try {
    return read();
  } catch (const std::bad_alloc& error) {
    return tell(ENOMEM, error.what());
  } catch (const std::exception& error) {
    return tell(EIO, error.what());
  }
}

}  // namespace

// Where there is no memory even for that, the errno has to do.
absl::Status GuardedFiles::Tell(int error_number, std::string_view path, const char* why) const {
  try {
    std::string text = std::string(path) + ": " + why;
    bool is_new = false;
    {
      absl::MutexLock lock(&mutex_);
      is_new = text != last_told_;
      last_told_ = text;
    }
    if (is_new) {
      events_.Add(EventLevel::kError, "control file failed", "", text);
    }
    return ErrnoStatus(error_number, std::move(text));
  } catch (const std::exception&) {
    return ErrnoStatus(error_number, "");
  }
}

absl::StatusOr<ControlEntry> GuardedFiles::Find(std::string_view path) const {
  return Guard([&] { return files_.Find(path); },
               [&](int error, const char* why) { return Tell(error, path, why); });
}

absl::StatusOr<std::vector<ControlEntry>> GuardedFiles::List(std::string_view path) const {
  return Guard([&] { return files_.List(path); },
               [&](int error, const char* why) { return Tell(error, path, why); });
}

absl::StatusOr<std::string> GuardedFiles::Show(std::string_view path) const {
  return Guard([&] { return files_.Show(path); },
               [&](int error, const char* why) { return Tell(error, path, why); });
}

absl::Status GuardedFiles::Store(std::string_view path, std::string_view value) {
  return files_.Store(path, value);
}

}  // namespace mdvol
