// resync_pacing "md-6.16": the kernels since 6.16. Users are seen at the array itself (requests
// that ended since the last look, or are in flight), so nothing hides them. With users about and
// sync_io_depth lanes or more in flight it waits until all have ended, and goes on: bursts of
// 128 KiB of each member by default, one after the other.

#ifndef MDVOL_POLICIES_MD_6_16_H_
#define MDVOL_POLICIES_MD_6_16_H_

#include "policies/md_pacing.h"

namespace mdvol {

inline constexpr PolicyOptionInfo kMd616Options[] = {
    {"sync_io_depth", 32, 1, 1e6, true, "lanes in flight with users about, as md/sync_io_depth"},
};

class Md616Pacing final : public MdPacing {
 public:
  explicit Md616Pacing(PolicyNumbers numbers)
      : depth_bytes_(static_cast<uint64_t>(numbers[0]) * kLaneBytes) {}

 protected:
  void Begin(const ResyncFacts& facts) override { ended_ = Ended(facts); }
  Word Judge(const ResyncFacts& facts, bool is_above_max) override {
    if (is_above_max) {
      return Word::kSleep;
    }
    return facts.in_flight_bytes() >= depth_bytes_ && IsBusy(facts) ? Word::kDrain : Word::kGo;
  }

 private:
  static constexpr uint64_t kLaneBytes = 4096;

  static uint64_t Ended(const ResyncFacts& facts) {
    return facts.foreground.quiet.count + facts.foreground.disturbed.count;
  }
  bool IsBusy(const ResyncFacts& facts) {
    const uint64_t before = ended_;
    ended_ = Ended(facts);
    return ended_ != before || facts.foreground.in_flight > 0;
  }

  const uint64_t depth_bytes_;
  uint64_t ended_ = 0;
};

}  // namespace mdvol

#endif  // MDVOL_POLICIES_MD_6_16_H_
