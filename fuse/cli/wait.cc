// `mdvol wait`: returns when nothing is synced any more, nor requested or due. Shows how far it is:
// a bar that moves on a terminal, a line now and then elsewhere.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "fuse/cli/live.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{10};
constexpr std::chrono::milliseconds kBarStep{200};
constexpr std::chrono::seconds kLineStep{5};
constexpr size_t kBarWidth = 40;

std::string TimeLeft(const Json& sync) {
  if (!sync.at("eta_s").is_number()) {
    return "no end in sight";
  }
  const auto seconds = sync.at("eta_s").get<uint64_t>();
  return absl::StrFormat("%u:%02u:%02u left", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

// "recover  42.0 %  120 MiB/s  0:00:12 left"
std::string ProgressText(const Json& sync, bool with_bar) {
  const std::string action = sync.at("action");
  const auto done = sync.at("done_bytes").get<double>();
  const auto total = sync.at("total_bytes").get<double>();
  const double part = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0;
  std::string bar;
  if (with_bar) {
    const auto filled = static_cast<size_t>(part * kBarWidth);
    bar = "  [" + std::string(filled, '=') + std::string(kBarWidth - filled, ' ') + "]";
  }
  return absl::StrFormat("%s%s %5.1f %%  %.1f MiB/s  %s", action, bar, part * 100,
                         sync.at("speed_bytes_per_s").get<double>() / static_cast<double>(kMiB),
                         TimeLeft(sync));
}

// The sync object of status.json, or none when there is nothing to wait for.
absl::StatusOr<Json> SyncOf(const LiveMount& mount) {
  MDVOL_ASSIGN_OR_RETURN(const std::string text, mount.Read("status.json"));
  try {
    Json status = Json::parse(text);
    return status.at("sync");
  } catch (const Json::exception&) {
    return ErrnoStatus(EINVAL, mount.path() + "/status.json: not of this version of mdvol");
  }
}

bool IsOver(const Json& sync) {
  const std::string action = sync.at("action");
  return action == "idle" || action == "frozen";
}

class Display {
 public:
  explicit Display(std::ostream& out) : out_(out), is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

  void Show(const Json& sync) {
    const auto now = SteadyClock::now();
    if (now < next_) {
      return;
    }
    next_ = now + (is_terminal_ ? kBarStep : std::chrono::milliseconds(kLineStep));
    if (is_terminal_) {
      out_ << "\r\033[K" << ProgressText(sync, /*with_bar=*/true) << std::flush;
      is_line_open_ = true;
    } else {
      out_ << ProgressText(sync, /*with_bar=*/false) << std::endl;
    }
  }

  void End() {
    if (is_line_open_) {
      out_ << "\r\033[K" << std::flush;
    }
  }

 private:
  std::ostream& out_;
  const bool is_terminal_;
  bool is_line_open_ = false;
  SteadyClock::time_point next_{};
};

absl::Status RunWait(const std::string& mountpoint, std::ostream& out) {
  MDVOL_ASSIGN_OR_RETURN(const LiveMount mount, LiveMount::Open(mountpoint));
  Display display(out);
  for (;;) {
    MDVOL_ASSIGN_OR_RETURN(const Json sync, SyncOf(mount));
    if (IsOver(sync)) {
      display.End();
      return absl::OkStatus();
    }
    display.Show(sync);
    std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

void AddWait(CLI::App& app, VerbContext& context) {
  auto mountpoint = std::make_shared<std::string>();
  CLI::App* const verb = app.add_subcommand(
      "wait", "Waits until no resync, recovery, check or repair runs or is due; shows progress");
  verb->add_option("MOUNTPOINT", *mountpoint, "Where the array is mounted")->required();
  verb->callback([mountpoint, &context] {
    context.run = [mountpoint, &context] { return RunWait(*mountpoint, context.out); };
  });
}

}  // namespace mdvol
