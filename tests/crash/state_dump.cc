// See state_dump.h.

#include "tests/crash/state_dump.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "tests/crash/crash_point.h"
#include "tests/crash/state_checker.h"
#include "tests/support/seed.h"

namespace mdvol::crash {
namespace {

using ImageBytes = std::vector<std::vector<std::byte>>;

constexpr size_t kBound = 4096;
constexpr size_t kTriesPerState = 200;

uint64_t MetadataHash(const RecordedRun& run, const std::vector<Image>& images) {
  uint64_t hash = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    for (const ByteRange& area : {run.areas.super, run.areas.bitmap, run.areas.bad_blocks}) {
      hash += (i + 1) * HashBytes(images[i].bytes().subspan(area.begin, area.size()), area.begin);
    }
  }
  return hash;
}

absl::Status WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file ? absl::OkStatus() : ErrnoStatus(EIO, absl::StrCat(path, ": cannot be written"));
}

std::string OpenAtoms(const RecordedRun& run, const StateVerdict& verdict) {
  std::string lines;
  for (const uint64_t stripe : verdict.exempt_stripes) {
    const uint64_t atoms = run.geometry.stripe_bytes() / kAtomBytes;
    for (uint64_t atom = stripe * atoms; atom < (stripe + 1) * atoms; ++atom) {
      absl::StrAppend(&lines, atom, "\n");
    }
  }
  return lines;
}

struct Dump {
  std::string name;
  ImageBytes images;  // before mdvol ran on them
  std::string open_atoms;
};

absl::Status WriteState(const std::string& folder, const RecordedRun& run, const Dump& dump,
                        const StateVerdict& verdict) {
  const std::string own = absl::StrCat(folder, "/", dump.name);
  std::error_code error;
  std::filesystem::create_directory(own, error);
  for (size_t i = 0; i < dump.images.size(); ++i) {
    MDVOL_RETURN_IF_ERROR(WriteFile(absl::StrCat(own, "/", i, ".img"), dump.images[i]));
  }
  MDVOL_RETURN_IF_ERROR(WriteFile(absl::StrCat(own, "/volume"), verdict.volume));
  MDVOL_RETURN_IF_ERROR(
      WriteFile(absl::StrCat(own, "/open"), std::as_bytes(std::span(dump.open_atoms))));
  std::ofstream list(absl::StrCat(folder, "/states"), std::ios::app);
  list << dump.name << ' ' << run.scenario << ' ' << absl::StrJoin(verdict.disks, ",") << ' '
       << (verdict.forced ? "force" : "plain") << ' '
       << (run.unsound_stripes.empty() && verdict.exempt_stripes.empty() ? "sound" : "rotten")
       << '\n';
  list.close();
  return list ? absl::OkStatus()
              : ErrnoStatus(EIO, absl::StrCat(folder, "/states: cannot be written"));
}

// Draws states of one run until one has metadata that none had before.
class Drawer {
 public:
  Drawer(const RecordedRun& run, uint64_t seed)
      : run_(run), times_(CrashTimes(run)), seed_(seed), prng_(seed) {}

  // False when there seem to be no more.
  bool Draw() {
    for (size_t i = 0; i < kTriesPerState; ++i) {
      const size_t time = times_[prng_.Below(times_.size())];
      point_.emplace(run_, time, kBound, seed_);
      point_->Choose(prng_.Below(point_->count()));
      if (seen_.insert(MetadataHash(run_, point_->images())).second) {
        return true;
      }
    }
    return false;
  }

  CrashPoint& point() { return *point_; }

 private:
  const RecordedRun& run_;
  const std::vector<size_t> times_;
  const uint64_t seed_;
  testing::Prng prng_;
  std::optional<CrashPoint> point_;
  absl::flat_hash_set<uint64_t> seen_;
};

}  // namespace

absl::Status DumpStates(const EnumerationOptions& options,
                        const std::function<void(const DumpedState&)>& visit) {
  size_t dumped = 0;
  for (size_t i = 0; i < options.scenarios.size(); ++i) {
    const Scenario& scenario = *options.scenarios[i];
    MDVOL_ASSIGN_OR_RETURN(const RecordedRun run,
                           RecordFor(scenario, options.guard, options.plant, options.seed));
    Drawer drawer(run, options.seed);
    for (; dumped < options.dump_count * (i + 1) / options.scenarios.size(); ++dumped) {
      if (!drawer.Draw()) {
        return ErrnoStatus(ENODATA, absl::StrCat(run.scenario, ": has too few states of distinct ",
                                                 "metadata: dump fewer"));
      }
      CrashPoint& point = drawer.point();
      DumpedState state{.state_hash = point.StateHash(), .violation = {}};
      Dump dump{.name = absl::StrFormat("state%04d", dumped), .images = {}, .open_atoms = {}};
      for (const Image& image : point.images()) {
        dump.images.emplace_back(image.bytes().begin(), image.bytes().end());
      }
      const AllowedContent allowed = run.model.At(point.time());
      const StateVerdict verdict =
          CheckState({run, allowed, point.pending_stripes(), std::nullopt}, point.images());
      dump.open_atoms = OpenAtoms(run, verdict);
      if (!verdict.violation.empty()) {
        state.violation = absl::StrCat(dump.name, ", ", run.scenario, ": ", verdict.violation);
      }
      MDVOL_RETURN_IF_ERROR(WriteState(options.dump_folder, run, dump, verdict));
      visit(state);
    }
  }
  return absl::OkStatus();
}

}  // namespace mdvol::crash
