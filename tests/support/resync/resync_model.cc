// See resync_model.h.

#include "tests/support/resync/resync_model.h"

#include <algorithm>
#include <utility>

namespace mdvol::testing {
namespace {

constexpr uint64_t kMostWindowBytes = 1 << 20;
constexpr uint64_t kLongestWaitNs = 100'000'000;
constexpr uint64_t kMarkStepNs = 3'000'000'000;
constexpr size_t kMarks = 10;

}  // namespace

ResyncModel::ResyncModel(const ResyncModelSpec& spec, ResyncPacing* policy)
    : spec_(spec),
      policy_(policy),
      disks_(spec.members, DiskModel(spec.disk)),
      members_(spec.members),
      random_(spec.seed * 2 + 1) {
  facts_.run = 1;
  facts_.speed_min = spec.speed_min;
  facts_.speed_max = spec.speed_max;
  facts_.least_window_bytes = spec.stripe_bytes;
  facts_.members = members_;
  marks_.emplace_back(now_ns_, 0);
  SetJobs(spec.jobs);
  if (policy_ != nullptr) {
    Ask();
  }
}

void ResyncModel::Push(uint64_t at_ns, Kind kind, uint64_t begun_ns, size_t member) {
  events_.push({at_ns, ++events_made_, kind, begun_ns, epoch_, member});
}

// xorshift64*: good enough to spread requests.
uint64_t ResyncModel::Random() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return random_ * 0x2545f4914f6cdd1dULL >> 16;
}

void ResyncModel::SetJobs(uint32_t jobs) {
  jobs_wanted_ = jobs;
  while (jobs_ < jobs_wanted_) {
    ++jobs_;
    Read();
  }
}

void ResyncModel::Read() {
  const size_t member = Random() % disks_.size();
  const uint64_t offset = Random() % (spec_.member_bytes / spec_.request_bytes);
  ++facts_.foreground.in_flight;
  const uint64_t end_ns = disks_[member].Admit(now_ns_, IoKind::kRead, offset * spec_.request_bytes,
                                               spec_.request_bytes);
  Push(end_ns, Kind::kRequest, now_ns_, member);
}

void ResyncModel::EndRequest(const Event& event) {
  const uint64_t took_ns = now_ns_ - event.begun_ns;
  const bool is_quiet = epoch_ % 2 == 0 && event.epoch == epoch_;
  ResyncLatencies& latencies = is_quiet ? facts_.foreground.quiet : facts_.foreground.disturbed;
  ++latencies.count;
  latencies.sum_ns += took_ns;
  --facts_.foreground.in_flight;
  members_[event.member].completed_bytes += spec_.request_bytes;
  ++requests_;
  latency_ns_ += took_ns;
  latencies_.push_back(took_ns);
  if (jobs_ > jobs_wanted_) {
    --jobs_;
  } else if (spec_.think_ns > 0) {
    Push(now_ns_ + spec_.think_ns, Kind::kThought);
  } else {
    Read();
  }
}

bool ResyncModel::HasRoom() const {
  return facts_.windows_in_flight < kMostResyncWindows &&
         facts_.in_flight_bytes() + facts_.least_window_bytes <= 2 * kMostWindowBytes;
}

void ResyncModel::Issue(uint64_t bytes) {
  uint64_t end_ns = now_ns_;
  for (size_t i = 0; i < disks_.size(); ++i) {
    end_ns = std::max(end_ns, disks_[i].Admit(now_ns_, IoKind::kRead, position_bytes_, bytes));
    members_[i].sync_issued_bytes += bytes;
  }
  position_bytes_ += bytes;
  if (position_bytes_ >= spec_.member_bytes) {
    position_bytes_ = 0;
  }
  facts_.issued_bytes += bytes;
  ++facts_.windows_in_flight;
  window_bytes_.push_back(bytes);
  epoch_ += epoch_ % 2 == 0 ? 1 : 0;
  most_in_flight_bytes_ = std::max(most_in_flight_bytes_, facts_.in_flight_bytes());
  Push(end_ns + spec_.window_cpu_ns, Kind::kWindow, now_ns_);
}

void ResyncModel::Ask() {
  while (HasRoom()) {
    facts_.now_ns = now_ns_;
    if (now_ns_ - marks_.back().first >= kMarkStepNs) {
      marks_.emplace_back(now_ns_, facts_.done_bytes);
      if (marks_.size() > kMarks) {
        marks_.pop_front();
      }
    }
    facts_.mark_ns = marks_.front().first;
    facts_.bytes_since_mark = facts_.done_bytes - marks_.front().second;
    const ResyncDecision decision = policy_->Decide(facts_);
    if (decision.wait_ns != 0) {
      wait_for_fewer_ = decision.wait_for_fewer_windows;
      Push(now_ns_ + std::min(decision.wait_ns, kLongestWaitNs), Kind::kAsk);
      ask_number_ = events_made_;
      return;
    }
    const uint64_t wanted = decision.window_bytes == 0 ? kMostWindowBytes : decision.window_bytes;
    const uint64_t most =
        std::min({wanted, kMostWindowBytes, 2 * kMostWindowBytes - facts_.in_flight_bytes()});
    Issue(std::max<uint64_t>(1, most / spec_.stripe_bytes) * spec_.stripe_bytes);
  }
  ask_number_ = 0;
  wait_for_fewer_ = kMostResyncWindows + 1;  // room, as soon as any ends
}

// Windows end in the order in which they began: every member serves them so.
void ResyncModel::EndWindow(const Event& event) {
  const uint64_t bytes = window_bytes_.front();
  window_bytes_.pop_front();
  --facts_.windows_in_flight;
  ++facts_.windows_done;
  facts_.done_bytes += bytes;
  facts_.last_window_bytes = bytes;
  facts_.last_window_ns = now_ns_ - event.begun_ns;
  facts_.last_done_ns = now_ns_;
  for (ResyncMemberFacts& member : members_) {
    member.completed_bytes += bytes;
  }
  epoch_ += facts_.windows_in_flight == 0 ? 1 : 0;
  window_ends_.push_back(now_ns_);
  least_in_flight_ = std::min(least_in_flight_, facts_.windows_in_flight);
  if (facts_.windows_in_flight < wait_for_fewer_) {
    Ask();
  }
}

void ResyncModel::Run(uint64_t ns) {
  const uint64_t end_ns = now_ns_ + ns;
  while (!events_.empty() && events_.top().at_ns <= end_ns) {
    const Event event = events_.top();
    events_.pop();
    now_ns_ = event.at_ns;
    if (event.kind == Kind::kRequest) {
      EndRequest(event);
    } else if (event.kind == Kind::kThought) {
      Read();
    } else if (event.kind == Kind::kWindow) {
      EndWindow(event);
    } else if (event.number == ask_number_) {
      Ask();
    }
  }
  now_ns_ = end_ns;
}

ResyncModel::Counts ResyncModel::counts() const {
  return {now_ns_, requests_, latency_ns_, facts_.done_bytes};
}

std::vector<uint64_t> ResyncModel::TakeLatencies() { return std::exchange(latencies_, {}); }

std::vector<uint64_t> ResyncModel::TakeWindowEnds() { return std::exchange(window_ends_, {}); }

uint64_t ResyncModel::TakeLeastInFlight() { return std::exchange(least_in_flight_, ~uint64_t{0}); }

}  // namespace mdvol::testing
