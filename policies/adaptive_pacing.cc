// See adaptive_pacing.h.

#include "policies/adaptive_pacing.h"

#include <algorithm>
#include <cmath>

namespace mdvol {
namespace {

constexpr uint64_t kGoneNs = 100'000'000;    // users have gone so long after their last request
constexpr uint64_t kLookNs = 25'000'000;     // so often is looked whether they have
constexpr uint64_t kProbeLookNs = 200'000;   // and so often whether a quiet request has ended
constexpr uint64_t kLongNs = 1'000'000'000;  // the engine asks earlier

constexpr uint64_t kMostWindowBytes = 1024 * 1024;
constexpr uint64_t kLeastWindowBytes = 128 * 1024;
constexpr uint64_t kFullSpeedBytes = 2 * kMostWindowBytes;  // in flight
// While nobody is there. A good request for any disk already; and what was read for two windows of
// many members is still in the processor's cache when P and Q are computed.
constexpr uint64_t kAloneWindowBytes = 512 * 1024;
constexpr uint64_t kAloneWindows = 2;

constexpr uint64_t kMostBurstWindows = 2;
constexpr double kSaturatedShare = 0.6;
constexpr double kTransferPerLatency = 2;  // at least, in a window that is not followed by a rest
// Without a quiet request for so long it waits for one.
constexpr uint64_t kOldNs = 500'000'000;
constexpr uint64_t kOldWithoutRestsNs = 5'000'000'000;
constexpr double kLeastAlignedNs = 1e6;
constexpr double kMostAligned = 1.5;  // requests in flight
constexpr double kLooksPerRequest = 16;
constexpr double kFadePerBurst = 0.75;
constexpr double kCountFadePerBurst = 0.9;  // counts scatter more
constexpr double kQuietFadePerBurst = 0.5;
// A burst costs no less than this part of its duration: it waits itself behind as many requests.
constexpr double kLeastCostShare = 1.0 / 64;

double Ns(uint64_t ns) { return static_cast<double>(ns); }

double Since(uint64_t now, uint64_t then) { return static_cast<double>(now - then); }

uint64_t Ended(const ResyncForegroundFacts& facts) {
  return facts.quiet.count + facts.disturbed.count;
}

}  // namespace

void AdaptivePacing::BeginRun(const ResyncFacts& facts) {
  run_ = facts.run;
  ended_ = Ended(facts.foreground);
  last_seen_ns_ = 0;
  are_there_ = false;
  is_in_burst_ = false;
}

bool AdaptivePacing::SeeUsers(const ResyncFacts& facts) {
  const uint64_t ended = Ended(facts.foreground);
  if (ended != ended_ || facts.foreground.in_flight > 0) {
    ended_ = ended;
    last_seen_ns_ = facts.now_ns;
    are_there_ = true;
  }
  are_there_ = are_there_ && facts.now_ns - last_seen_ns_ < kGoneNs;
  return are_there_;
}

// A burst has ended, its rest too: what it cost. Without a quiet request in it nobody knows.
void AdaptivePacing::Learn(const ResyncFacts& facts) {
  const ResyncForegroundFacts& now = facts.foreground;
  const double quiet = Since(now.quiet.count, at_begin_.quiet.count);
  const double disturbed = Since(now.disturbed.count, at_begin_.disturbed.count);
  const double quiet_ns = Since(now.quiet.sum_ns, at_begin_.quiet.sum_ns);
  const double disturbed_ns = Since(now.disturbed.sum_ns, at_begin_.disturbed.sum_ns);
  burst_ns_ = Since(std::max(facts.last_done_ns, burst_begun_ns_), burst_begun_ns_);
  // Windows that follow each other without end wait for each other, too.
  const double burst_bytes = Since(facts.issued_bytes, burst_begun_bytes_);
  if (burst_rests_ && burst_bytes > 0 && quiet_count_ > 0) {
    const double beyond_ns = burst_ns_ - quiet_sum_ns_ / quiet_count_;
    per_byte_ns_ = std::max(beyond_ns, 0.0) / burst_bytes;
  }
  if (quiet > 0) {
    quiet_count_ = quiet_count_ * kQuietFadePerBurst + quiet;
    quiet_sum_ns_ = quiet_sum_ns_ * kQuietFadePerBurst + quiet_ns;
  } else if (quiet_count_ == 0) {
    return;
  }
  const double extra_ns = disturbed_ns - disturbed * (quiet_sum_ns_ / quiet_count_);
  const auto add = [](double* sum, double part) { *sum = *sum * kFadePerBurst + part; };
  add(&bursts_, 1);
  add(&cost_sum_ns_, extra_ns);
  add(&latency_sum_ns_, quiet_ns + disturbed_ns);
  add(&time_sum_ns_, Since(facts.now_ns, burst_begun_ns_));
  const auto add_count = [](double* sum, double part) { *sum = *sum * kCountFadePerBurst + part; };
  add_count(&counted_bursts_, 1);
  add_count(&burst_time_ns_, Since(rest_begun_ns_, burst_begun_ns_));
  add_count(&burst_ended_, Since(rest_begun_ended_, Ended(at_begin_)));
  add_count(&rest_time_ns_, Since(facts.now_ns, rest_begun_ns_));
  add_count(&rest_ended_, Since(Ended(now), rest_begun_ended_));
}

double AdaptivePacing::InFlight() const {
  return time_sum_ns_ > 0 ? latency_sum_ns_ / time_sum_ns_ : 0;
}

bool AdaptivePacing::IsSaturated(const ResyncFacts& facts) const {
  return !facts.members.empty() && InFlight() > Ns(facts.members.size());
}

// Of a burst: the time that users lose by it. Their latency says so, but with queues of their own,
// where the quiet ones are those that met short queues: there it is by how many requests fewer end
// than in as long a rest.
double AdaptivePacing::CostNs(const ResyncFacts& facts) const {
  if (bursts_ == 0 || latency_sum_ns_ <= 0) {
    return burst_ns_;
  }
  double cost_ns = cost_sum_ns_ / bursts_ / InFlight();
  if (IsSaturated(facts) && rest_ended_ > 0) {
    cost_ns = (burst_time_ns_ - burst_ended_ * (rest_time_ns_ / rest_ended_)) / counted_bursts_;
  }
  return std::clamp(cost_ns, burst_ns_ * kLeastCostShare, burst_ns_);
}

AdaptivePacing::Manner AdaptivePacing::MannerFor(const ResyncFacts& facts) const {
  const bool is_saturated = IsSaturated(facts);
  const double share = latency_share_ * (is_saturated ? kSaturatedShare : 1);

  // A window lasts about as long as a quiet request, and so much per byte beyond.
  const double quiet_ns = quiet_count_ > 0 ? quiet_sum_ns_ / quiet_count_ : 0;
  if (quiet_ns > 0 && per_byte_ns_ > 0) {
    const double granted_bytes = quiet_ns * share / per_byte_ns_;
    const double least_bytes = std::clamp(kTransferPerLatency * quiet_ns / per_byte_ns_,
                                          Ns(kLeastWindowBytes), Ns(kMostWindowBytes));
    if (granted_bytes >= 2 * least_bytes) {
      const double in_flight_bytes = std::min(granted_bytes, Ns(kFullSpeedBytes));
      const double windows =
          std::min(std::floor(in_flight_bytes / least_bytes), Ns(kMostResyncWindows));
      return {.windows = static_cast<uint64_t>(windows),
              .window_bytes = static_cast<uint64_t>(in_flight_bytes / windows),
              .rests = false,
              .period_ns = 0};
    }
  }
  return {.windows = is_saturated ? kMostBurstWindows : 1,
          .window_bytes = kMostWindowBytes,
          .rests = true,
          .period_ns = static_cast<uint64_t>(CostNs(facts) * (1 + 1 / share))};
}

// What is in flight when users come is their first burst. What it costs is not known yet.
void AdaptivePacing::Meet(const ResyncFacts& facts) {
  is_in_burst_ = true;
  burst_begun_ns_ = facts.now_ns;
  burst_windows_ = kMostResyncWindows;
  burst_rests_ = false;
  is_in_rest_ = is_aligning_ = false;
  burst_begun_bytes_ = facts.issued_bytes;
  at_begin_ = facts.foreground;
  bursts_ = cost_sum_ns_ = latency_sum_ns_ = time_sum_ns_ = 0;
  counted_bursts_ = burst_time_ns_ = burst_ended_ = rest_time_ns_ = rest_ended_ = 0;
  quiet_count_ = quiet_sum_ns_ = 0;
  quiet_seen_ns_ = facts.now_ns;
  burst_ns_ = Ns(facts.last_window_ns);
}

void AdaptivePacing::BeginBurst(const ResyncFacts& facts) {
  if (is_in_burst_) {
    Learn(facts);
  }
  is_in_burst_ = true;
  burst_begun_ns_ = facts.now_ns;
  burst_windows_ = 0;
  is_in_rest_ = is_aligning_ = false;
  burst_begun_bytes_ = facts.issued_bytes;
  at_begin_ = facts.foreground;
}

// Whether it waits, with nothing in flight, until users have had a quiet request, for what is known
// of them is old. Not for ever: they may have gone.
bool AdaptivePacing::WantsQuiet(const ResyncFacts& facts, bool rests) {
  const uint64_t quiet = facts.foreground.quiet.count;
  if (quiet != quiet_seen_) {
    quiet_seen_ = quiet;
    quiet_seen_ns_ = facts.now_ns;
  }
  const uint64_t old_ns = rests ? kOldNs : kOldWithoutRestsNs;
  if (quiet_count_ > 0 && facts.now_ns - quiet_seen_ns_ < old_ns) {
    return false;
  }
  const double patience_ns =
      std::max(Ns(kGoneNs), quiet_count_ > 0 ? 4 * quiet_sum_ns_ / quiet_count_ : 0);
  if (facts.windows_in_flight == 0 && Since(facts.now_ns, facts.last_done_ns) >= patience_ns) {
    quiet_seen_ns_ = facts.now_ns;
    return false;
  }
  return true;
}

// For how long a window waits, after its rest, for a request to end. A request has then just begun,
// and is served on one member while the window begins on the others. Worth the looks only where
// requests take long, and come one by one.
uint64_t AdaptivePacing::AlignmentNs(const ResyncFacts& facts, uint64_t period_end_ns) {
  const double quiet_ns = quiet_count_ > 0 ? quiet_sum_ns_ / quiet_count_ : 0;
  const uint64_t ended = Ended(facts.foreground);
  if (!is_aligning_) {
    is_aligning_ = true;
    aligning_ended_ = ended;
  }
  const bool is_worth_it = quiet_ns >= kLeastAlignedNs && InFlight() < kMostAligned;
  const bool is_late = Since(facts.now_ns, period_end_ns) > 2 * quiet_ns;
  return is_worth_it && ended == aligning_ended_ && !is_late
             ? static_cast<uint64_t>(quiet_ns / kLooksPerRequest)
             : 0;
}

ResyncDecision AdaptivePacing::BesideUsers(const ResyncFacts& facts) {
  const Manner manner = MannerFor(facts);
  manner_rests_ = manner.rests;
  const ResyncDecision go{
      .wait_ns = 0, .wait_for_fewer_windows = 0, .window_bytes = manner.window_bytes};
  if (facts.windows_in_flight > 0) {
    if (manner.rests ? burst_windows_ < manner.windows
                     : facts.windows_in_flight < manner.windows && !WantsQuiet(facts, false)) {
      return go;
    }
    return {.wait_ns = kLongNs, .wait_for_fewer_windows = manner.rests ? 1 : manner.windows};
  }
  if (!is_in_rest_) {
    is_in_rest_ = true;
    rest_begun_ns_ = facts.now_ns;
    rest_begun_ended_ = Ended(facts.foreground);
  }
  const uint64_t period_end_ns = burst_begun_ns_ + manner.period_ns;
  if (is_in_burst_ && facts.now_ns < period_end_ns) {
    return {.wait_ns = std::min(period_end_ns - facts.now_ns, kLookNs)};
  }
  if (is_in_burst_ && WantsQuiet(facts, manner.rests)) {
    return {.wait_ns = kProbeLookNs};
  }
  if (is_in_burst_ && manner.rests) {
    if (const uint64_t wait_ns = AlignmentNs(facts, period_end_ns); wait_ns > 0) {
      return {.wait_ns = wait_ns};
    }
  }
  return go;
}

ResyncDecision AdaptivePacing::Decide(const ResyncFacts& facts) {
  if (facts.run != run_) {
    BeginRun(facts);
  }
  const bool is_due = floor_.IsDue(facts);
  if (const uint64_t wait_ns = limit_.WaitNs(facts); wait_ns > 0) {
    return {.wait_ns = wait_ns};
  }
  const bool were_there = are_there_;
  if (SeeUsers(facts)) {
    if (!were_there) {
      Meet(facts);
    }
    ResyncDecision decision = BesideUsers(facts);
    if (decision.wait_ns > 0 && is_due) {
      decision = {.wait_ns = 0,
                  .wait_for_fewer_windows = 0,
                  .window_bytes = SpeedFloor::WindowBytes(facts)};
    }
    if (decision.wait_ns == 0) {
      if (facts.windows_in_flight == 0) {
        BeginBurst(facts);
        burst_rests_ = manner_rests_;
      }
      ++burst_windows_;
      decision.window_bytes = std::min(decision.window_bytes, SpeedLimit::MostWindowBytes(facts));
    }
    return decision;
  }
  is_in_burst_ = false;
  if (facts.windows_in_flight >= kAloneWindows) {
    return {.wait_ns = kLongNs, .wait_for_fewer_windows = kAloneWindows};
  }
  return {.wait_ns = 0,
          .wait_for_fewer_windows = 0,
          .window_bytes = std::min(kAloneWindowBytes, SpeedLimit::MostWindowBytes(facts))};
}

}  // namespace mdvol
