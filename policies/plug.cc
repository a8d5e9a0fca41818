// See plug.h.

#include "policies/plug.h"

#include <vector>

namespace mdvol {
namespace {

constexpr uint64_t kLaneBytes = 4096;

// The requests that a plug holds.
class Plug {
 public:
  explicit Plug(uint32_t members) : bytes_(members, 0) {}

  // Whether the member's next lane joins the request that is held for it.
  bool Joins(uint32_t member) {
    if (bytes_[member] == 0 || bytes_[member] + kLaneBytes > kPlugRequestBytes) {
      return false;
    }
    bytes_[member] += kLaneBytes;
    return true;
  }

  bool MustGo(uint32_t most_requests) const {
    return count_ >= most_requests || (count_ > 0 && bytes_[last_] >= kPlugFlushBytes);
  }

  void SendOff() {
    bytes_.assign(bytes_.size(), 0);
    count_ = 0;
  }

  void Add(uint32_t member) {
    bytes_[member] = kLaneBytes;
    last_ = member;
    ++count_;
  }

 private:
  std::vector<uint64_t> bytes_;  // of the member's request; 0: none
  uint32_t count_ = 0;
  uint32_t last_ = 0;  // the member whose request was added last
};

}  // namespace

void PlugRequests::Cut(const ResyncRequestFacts& facts, std::span<RequestCuts> cuts) const {
  Plug plug(facts.members);
  for (uint64_t at = 0; at < facts.bytes_per_member; at += kLaneBytes) {
    for (uint32_t member = 0; member < facts.members; ++member) {
      if (plug.Joins(member)) {
        continue;
      }
      if (plug.MustGo(most_requests_)) {
        plug.SendOff();
      }
      plug.Add(member);
      cuts[member].push_back(at);
    }
  }
}

}  // namespace mdvol
