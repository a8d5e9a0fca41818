// See write_bound.h.

#include "tests/bench/scenarios/write_bound.h"

#include <algorithm>
#include <queue>
#include <vector>

#include "core/base/units.h"
#include "tests/support/seed.h"

namespace mdvol::bench {
namespace {

constexpr uint64_t kReadBytes = 4 * kKiB;
constexpr size_t kReads = 4000;
constexpr uint64_t kFarBytes = kTiB;  // a read is somewhere else

// The end of an outstanding request: what happens next happens then.
struct End {
  uint64_t ns;
  uint32_t member;
  bool is_read;

  bool operator>(const End& other) const { return ns > other.ns; }
};

}  // namespace

MixedRate PlayMixedLoad(const DiskModelParameters& model, const MixedLoad& load, uint64_t seed) {
  testing::Prng prng(seed);
  std::vector<DiskModel> disks(load.members, DiskModel(model));
  std::vector<uint64_t> written(load.members, 0);
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  const auto write = [&](uint64_t now_ns, uint32_t member) {
    const uint64_t end_ns =
        disks[member].Admit(now_ns, IoKind::kWrite, written[member], load.write_bytes);
    written[member] += load.write_bytes;
    ends.push({end_ns, member, false});
  };
  std::vector<uint64_t> read_ns;
  uint64_t read_begin_ns = 0;
  const auto read = [&](uint64_t now_ns) {
    const auto member = static_cast<uint32_t>(prng.Below(load.members));
    read_begin_ns = now_ns;
    ends.push({disks[member].Admit(now_ns, IoKind::kRead, kFarBytes + prng.Below(kTiB), kReadBytes),
               member, true});
  };
  for (uint32_t member = 0; member < load.members; ++member) {
    for (uint32_t i = 0; i < load.depth; ++i) {
      write(0, member);
    }
  }
  if (load.reads) {
    read(0);
  }
  uint64_t now_ns = 0;
  uint64_t ended_writes = 0;
  while (!ends.empty() && read_ns.size() + (load.reads ? 0 : ended_writes) < kReads) {
    const End end = ends.top();
    ends.pop();
    now_ns = end.ns;
    if (end.is_read) {
      read_ns.push_back(now_ns - read_begin_ns);
      read(now_ns);
    } else {
      ++ended_writes;
      write(now_ns, end.member);
    }
  }
  MixedRate rate;
  rate.write_bytes_per_s = static_cast<double>(ended_writes * load.write_bytes) * 1e9 /
                           static_cast<double>(std::max<uint64_t>(now_ns, 1));
  if (!read_ns.empty()) {
    const auto rank = read_ns.begin() + static_cast<std::ptrdiff_t>(read_ns.size() * 99 / 100);
    std::nth_element(read_ns.begin(), rank, read_ns.end());
    rate.read_p99_ns = static_cast<double>(*rank);
  }
  return rate;
}

WriteBounds BoundWrites(const DiskModelParameters& model, uint32_t members, double read_p99_ns,
                        double least_share, uint64_t seed) {
  struct Allowed {
    double write_bytes_per_s;
    uint64_t request_bytes;
  };
  std::vector<Allowed> allowed;
  WriteBounds bounds;
  for (uint32_t depth = 1; depth <= 4; ++depth) {
    for (uint64_t bytes = 4 * kKiB; bytes <= kMiB; bytes += bytes < 128 * kKiB ? 4 * kKiB : bytes) {
      const MixedRate rate = PlayMixedLoad(model, {members, depth, bytes, true}, seed);
      if (rate.read_p99_ns <= read_p99_ns) {
        allowed.push_back({rate.write_bytes_per_s, bytes});
        bounds.write_bytes_per_s = std::max(bounds.write_bytes_per_s, rate.write_bytes_per_s);
      }
    }
  }
  for (const Allowed& load : allowed) {
    if (load.write_bytes_per_s >= least_share * bounds.write_bytes_per_s) {
      bounds.request_bytes = std::max(bounds.request_bytes, load.request_bytes);
    }
  }
  return bounds;
}

}  // namespace mdvol::bench
