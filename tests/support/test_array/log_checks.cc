// See log_checks.h.

#include "tests/support/test_array/log_checks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/metadata/bitmap.h"
#include "core/metadata/superblock.h"

namespace mdvol::testing {
namespace {

constexpr uint64_t kPageBytes = 4096;

// The bytes of one place on one disk after each write that touched it.
struct Version {
  size_t written_at = 0;  // index in the log
  size_t durable_at = 0;
  std::vector<std::byte> bytes;
};
using Versions = std::vector<Version>;  // the first is what was there before

class History {
 public:
  explicit History(const RecordedRun& run) : run_(run) {
    for (size_t i = 0; i < run.log.size(); ++i) {
      durable_at_.push_back(run.log[i].Changes() ? DurableAt(run.log, i) : kNever);
    }
  }

  size_t durable_at(size_t index) const { return durable_at_[index]; }

  const Versions& Of(size_t disk, uint64_t begin, uint64_t length) {
    const auto [position, is_new] = versions_.try_emplace({disk, begin});
    if (is_new) {
      position->second = Collect(disk, begin, length);
    }
    return position->second;
  }
  const Versions& Super(size_t disk) {
    const ByteRange& area = run_.array.areas(disk).super;
    return Of(disk, area.begin, area.size());
  }
  const Versions& BitmapPage(size_t disk, uint64_t page) {
    const ByteRange& area = run_.array.areas(disk).bitmap;
    const uint64_t begin = area.begin + page * kPageBytes;
    return Of(disk, begin, std::min(kPageBytes, area.end - begin));
  }

  // Calls visit(version) for all that may be held at `time`.
  template <typename Visit>
  static void ForEachPossible(const Versions& versions, size_t time, Visit visit) {
    size_t first = 0;
    for (size_t i = 0; i < versions.size(); ++i) {
      first = versions[i].durable_at <= time && versions[i].written_at <= time ? i : first;
    }
    for (size_t i = first; i < versions.size() && (i == 0 || versions[i].written_at < time); ++i) {
      visit(versions[i]);
    }
  }

 private:
  Versions Collect(size_t disk, uint64_t begin, uint64_t length) const {
    Versions versions = {{0, 0, run_.before.Bytes(disk, begin, length)}};
    for (size_t i = 0; i < run_.log.size(); ++i) {
      const RecordedRequest& request = run_.log[i];
      if (request.member != disk || request.kind != IoKind::kWrite ||
          !request.Touches(begin, begin + length)) {
        continue;
      }
      Version version = {i, durable_at_[i], versions.back().bytes};
      const uint64_t from = std::max(begin, request.offset_bytes);
      const uint64_t to = std::min(begin + length, request.offset_bytes + request.length_bytes);
      std::memcpy(version.bytes.data() + (from - begin),
                  request.bytes.data() + (from - request.offset_bytes), to - from);
      versions.push_back(std::move(version));
    }
    return versions;
  }

  const RecordedRun& run_;
  std::vector<size_t> durable_at_;
  std::map<std::pair<size_t, uint64_t>, Versions> versions_;
};

Superblock SuperOf(const Version& version) {
  Superblock super = {};
  std::memcpy(&super, version.bytes.data(), std::min(version.bytes.size(), sizeof(super)));
  return super;
}

bool IsClean(const Version& version) { return SuperOf(version).resync_offset == kResyncDone; }

struct BitPlace {
  uint64_t page = 0;
  uint64_t byte = 0;  // on the page
  unsigned shift = 0;
};

BitPlace PlaceOf(uint64_t bit) {
  const uint64_t byte = kBitmapSuperBytes + bit / 8;
  return {byte / kPageBytes, byte % kPageBytes, static_cast<unsigned>(bit % 8)};
}

bool HasBit(const Version& version, const BitPlace& place) {
  return ((std::to_integer<unsigned>(version.bytes[place.byte]) >> place.shift) & 1) != 0;
}

// The bits that cover what a request does to the data area: whole stripes.
std::pair<uint64_t, uint64_t> BitsOf(const TestArray& array, const RecordedRequest& request) {
  const ByteRange& data = array.areas(request.member).data;
  const uint64_t begin = std::max(request.offset_bytes, data.begin) - data.begin;
  const uint64_t end = std::min(request.offset_bytes + request.length_bytes, data.end) - data.begin;
  return {begin / array.spec().bitmap_chunk_bytes, (end - 1) / array.spec().bitmap_chunk_bytes};
}

}  // namespace

std::string CheckIntentOrder(const RecordedRun& run) {
  if (!run.array.spec().bitmap) {
    return "";
  }
  History history(run);
  std::map<uint64_t, std::vector<size_t>> writes_under;  // by bit
  std::string problem;
  for (size_t i = 0; i < run.log.size() && problem.empty(); ++i) {
    if (!run.array.IsData(run.log[i])) {
      continue;
    }
    const auto [first, last] = BitsOf(run.array, run.log[i]);
    for (uint64_t bit = first; bit <= last; ++bit) {
      writes_under[bit].push_back(i);
      const BitPlace place = PlaceOf(bit);
      for (const size_t disk : run.live) {
        History::ForEachPossible(history.BitmapPage(disk, place.page), i, [&](const Version& v) {
          if (!HasBit(v, place)) {
            problem = absl::StrCat("entry ", i, " writes data of disk ", run.log[i].member,
                                   " while disk ", disk, " may lack bit ", bit);
          }
        });
      }
    }
  }
  for (const auto& [bit, writes] : writes_under) {
    const BitPlace place = PlaceOf(bit);
    for (const size_t disk : run.live) {
      const Versions& versions = history.BitmapPage(disk, place.page);
      for (size_t v = 1; v < versions.size(); ++v) {
        if (!HasBit(versions[v - 1], place) || HasBit(versions[v], place)) {
          continue;
        }
        const size_t cleared_at = versions[v].written_at;
        for (const size_t write : writes) {
          if (write < cleared_at && history.durable_at(write) > cleared_at &&
              std::count(run.live.begin(), run.live.end(), run.log[write].member) != 0) {
            problem = absl::StrCat("entry ", cleared_at, " clears bit ", bit,
                                   " before the data of entry ", write, " are durable");
          }
        }
      }
    }
  }
  return problem;
}

std::string CheckCleanOrder(const RecordedRun& run) {
  History history(run);
  std::string problem;
  for (size_t i = 0; i < run.log.size() && problem.empty(); ++i) {
    if (!run.array.IsData(run.log[i])) {
      continue;
    }
    for (const size_t disk : run.live) {
      History::ForEachPossible(history.Super(disk), i, [&](const Version& version) {
        if (IsClean(version)) {
          problem = absl::StrCat("entry ", i, " writes data while disk ", disk, " may be clean");
        }
      });
      for (const Version& version : history.Super(disk)) {
        const size_t time = version.written_at;
        if (IsClean(version) && time > i && history.durable_at(i) > time &&
            std::count(run.live.begin(), run.live.end(), run.log[i].member) != 0) {
          problem = absl::StrCat("entry ", time, " marks disk ", disk,
                                 " clean before the data of entry ", i, " are durable");
        }
      }
    }
  }
  return problem;
}

std::string CheckEventOrder(const RecordedRun& run) {
  History history(run);
  for (size_t time = 0; time <= run.log.size(); ++time) {
    uint64_t oldest = std::numeric_limits<uint64_t>::max();
    uint64_t newest = 0;
    uint64_t oldest_bitmap = std::numeric_limits<uint64_t>::max();
    for (const size_t disk : run.live) {
      History::ForEachPossible(history.Super(disk), time, [&](const Version& version) {
        oldest = std::min<uint64_t>(oldest, SuperOf(version).events);
        newest = std::max<uint64_t>(newest, SuperOf(version).events);
      });
      if (!run.array.spec().bitmap) {
        continue;
      }
      History::ForEachPossible(history.BitmapPage(disk, 0), time, [&](const Version& version) {
        BitmapSuperblock super;
        std::memcpy(&super, version.bytes.data(), sizeof(super));
        oldest_bitmap = std::min<uint64_t>(oldest_bitmap, super.events);
      });
    }
    if (newest > oldest + 1) {
      return absl::StrCat("before entry ", time, " members may be at ", oldest, " and at ", newest,
                          " events");
    }
    if (newest > oldest_bitmap) {
      return absl::StrCat("before entry ", time, " a bitmap may be at ", oldest_bitmap,
                          " events, behind a member at ", newest);
    }
  }
  return "";
}

std::string CheckFailureRecorded(const RecordedRun& run, size_t failed) {
  History history(run);
  uint64_t events_of_failed = 0;
  History::ForEachPossible(history.Super(failed), run.log.size(), [&](const Version& version) {
    events_of_failed = std::max<uint64_t>(events_of_failed, SuperOf(version).events);
  });
  std::string problem;
  for (const size_t disk : run.live) {
    History::ForEachPossible(history.Super(disk), run.log.size(), [&](const Version& version) {
      const Superblock super = SuperOf(version);
      if (RoleOfDevice(super, static_cast<uint32_t>(failed)) != kRoleFaulty) {
        problem = absl::StrCat("disk ", disk, " may not know that disk ", failed, " has failed");
      } else if (super.events <= events_of_failed) {
        problem = absl::StrCat("disk ", disk, " may be no younger than disk ", failed);
      }
    });
  }
  return problem;
}

std::string CheckOrder(const RecordedRun& run) {
  for (const auto& check : {CheckIntentOrder, CheckCleanOrder, CheckEventOrder}) {
    if (std::string problem = check(run); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

Disks CrashAt(const Disks& before, const RecordedRequests& log, size_t time, Prng* prng) {
  Disks disks = before.Copy();
  for (size_t i = 0; i < time && i < log.size(); ++i) {
    if (log[i].Changes() && (prng == nullptr || DurableAt(log, i) <= time || prng->OneIn(2))) {
      disks.Replay(log[i]);
    }
  }
  return disks;
}

}  // namespace mdvol::testing
