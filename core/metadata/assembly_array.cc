// DecideAssembly, first step: the members must be of one array, and each must be there once.

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/uuid.h"
#include "core/metadata/assembly_work.h"

namespace mdvol::assembly {
namespace {

// The array that most members belong to; of two as large, the one with more events, then the one
// with the smaller uuid.
Uuid LargestArray(const Work& work) {
  std::map<Uuid, std::pair<size_t, uint64_t>> sizes;
  for (size_t i = 0; i < work.reports.size(); ++i) {
    auto& [count, events] = sizes[work.super(i).set_uuid];
    ++count;
    events = std::max(events, work.events(i));
  }
  return std::max_element(sizes.begin(), sizes.end(),
                          [](const auto& a, const auto& b) {
                            return std::tie(a.second, b.first) < std::tie(b.second, a.first);
                          })
      ->first;
}

void RefuseOtherArrays(Work& work) {
  const std::vector<size_t>& order = work.best_first;
  const Uuid array = LargestArray(work);
  const auto is_of_array = [&](size_t i) { return work.super(i).set_uuid == array; };
  const std::string& witness = work.path(*std::find_if(order.begin(), order.end(), is_of_array));
  for (const size_t i : order) {
    if (is_of_array(i)) {
      continue;
    }
    work.claims[i].counts = false;
    const std::string reason =
        absl::StrCat("belongs to array ", FormatUuidColons(work.super(i).set_uuid), ", but ",
                     witness, " to array ", FormatUuidColons(array));
    work.Judge(i, MemberStanding::kForeign, reason);
    work.Refuse(ErrnoStatus(
        EINVAL, absl::StrCat(work.path(i), ": ", reason, ": name the members of one array only")));
  }
}

void RefuseDuplicates(Work& work) {
  std::map<Uuid, size_t> by_uuid;
  std::map<std::string, size_t> by_path;
  for (const size_t i : work.best_first) {
    if (!work.claims[i].counts) {
      continue;
    }
    const auto [same_uuid, is_new_uuid] = by_uuid.try_emplace(work.super(i).device_uuid, i);
    const auto [same_path, is_new_path] = by_path.try_emplace(work.path(i), i);
    if (is_new_uuid && is_new_path) {
      continue;
    }
    const size_t other = is_new_uuid ? same_path->second : same_uuid->second;
    const std::string uuid = FormatUuidColons(work.super(i).device_uuid);
    work.Judge(i, MemberStanding::kForeign,
               absl::StrCat("the same member as ", work.path(other), ", device uuid ", uuid));
    work.Judge(other, MemberStanding::kForeign,
               absl::StrCat("the same member as ", work.path(i), ", device uuid ",
                            FormatUuidColons(work.super(other).device_uuid)));
    work.Refuse(ErrnoStatus(
        EINVAL, absl::StrCat(work.path(other), " and ", work.path(i),
                             " are the same member (device uuid ", uuid, "): name one of them")));
  }
  // Only now, so that a third copy is found too.
  for (const size_t i : work.best_first) {
    if (work.verdict(i).standing == MemberStanding::kForeign) {
      work.claims[i].counts = false;
    }
  }
}

}  // namespace

void FindArray(Work& work) {
  RefuseOtherArrays(work);
  RefuseDuplicates(work);
}

}  // namespace mdvol::assembly
