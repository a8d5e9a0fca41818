// StripeEngine: check, repair, recomputation of parity, and recovery, window by window.
//
// A window is a run of neighbouring stripes that are held together, as many as are free at once, so
// that each member is read in one large request. Chunks that are larger than a window's share of a
// member are done in columns.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/stripe/stripe_engine.h"
#include "core/stripe/sync_recover.h"
#include "core/stripe/sync_verify.h"

namespace mdvol {
namespace {

constexpr uint64_t kMostWindowBytes = 128 * kMiB;   // of memory, over all members
constexpr uint64_t kMostBytesPerMember = 1 * kMiB;  // half of it is a good request

// How many bytes of each member a window may hold.
uint64_t WindowBytesPerMember(const ArrayGeometry& geometry) {
  const uint64_t share = RoundDown(kMostWindowBytes / geometry.raid_disks(), kLaneBytes);
  return std::max(kLaneBytes, std::min(kMostBytesPerMember, share));
}

// Calls visit(columns) for the columns of a chunk that fit into a window side by side.
template <typename Visit>
void ForEachWindow(const ArrayGeometry& geometry, Visit visit) {
  const uint64_t chunk_bytes = geometry.chunk_bytes();
  const uint64_t columns = std::min(chunk_bytes, WindowBytesPerMember(geometry));
  for (uint64_t begin = 0; begin < chunk_bytes; begin += columns) {
    visit(ColumnRange{begin, std::min(begin + columns, chunk_bytes)});
  }
}

bool AreAlike(const WrongBlock& a, const WrongBlock& b) {
  return a.stripe == b.stripe && a.columns.end == b.columns.begin && a.kind == b.kind &&
         a.slot == b.slot && a.repaired == b.repaired;
}

void AddFindings(const SyncStripe& stripe, SyncFindings* findings) {
  findings->mismatch_sectors += stripe.mismatched_lanes * (kLaneBytes / kSectorBytes);
  findings->skipped_stripes += stripe.is_skipped ? 1 : 0;
  if (stripe.action == StripeSync::kCheck && (stripe.has_listed_bad || !stripe.wrong.empty())) {
    findings->to_repair.push_back({stripe.facts.stripe(), stripe.is_skipped});
  }
  for (const WrongBlock& wrong : stripe.wrong) {
    if (!findings->wrong.empty() && AreAlike(findings->wrong.back(), wrong)) {
      findings->wrong.back().columns.end = wrong.columns.end;
    } else {
      findings->wrong.push_back(wrong);
    }
  }
}

}  // namespace

std::shared_ptr<const ResyncRequest> StripeEngine::RequestPolicy() const {
  return policies_ == nullptr ? nullptr : policies_->resync_request.Get();
}

uint64_t StripeEngine::StripesPerWindow() const {
  return std::max<uint64_t>(1, WindowBytesPerMember(geometry_) >> geometry_.chunk_shift());
}

size_t StripeEngine::WindowBytes(uint64_t stripes) const {
  return std::min(WindowBytesPerMember(geometry_), stripes << geometry_.chunk_shift()) *
         geometry_.raid_disks();
}

EngineResult StripeEngine::CheckStripes(const MemberView& members, uint64_t first_stripe,
                                        uint64_t count, SyncFindings* findings) {
  return Verify(members, {first_stripe, count}, StripeSync::kCheck, findings);
}

EngineResult StripeEngine::RepairStripes(const MemberView& members, uint64_t first_stripe,
                                         uint64_t count, RepairMode mode, SyncFindings* findings) {
  return Verify(members, {first_stripe, count},
                mode == RepairMode::kLocate ? StripeSync::kLocate : StripeSync::kParity, findings);
}

EngineResult StripeEngine::RecomputeParity(const MemberView& members, uint64_t first_stripe,
                                           uint64_t count) {
  SyncFindings findings;
  return Verify(members, {first_stripe, count}, StripeSync::kRecompute, &findings);
}

// Never waits for a stripe while holding another.
EngineResult StripeEngine::Verify(const MemberView& members, Stripes stripes, StripeSync action,
                                  SyncFindings* findings) {
  EngineResult result;
  const uint64_t skipped_before = findings->skipped_stripes;
  const bool is_shared = action == StripeSync::kCheck;
  WindowPool::Loan loan(
      windows_, WindowBytes(std::min(stripes.count, StripesPerWindow())) + kVerifyScratchBytes);
  while (stripes.count > 0) {
    uint64_t held = 1;
    if (is_shared) {
      locks_.LockShared(stripes.first);
    } else {
      locks_.Lead(stripes.first);
    }
    while (held < std::min(stripes.count, StripesPerWindow()) &&
           (is_shared ? locks_.TryLockShared(stripes.first + held)
                      : locks_.TryLead(stripes.first + held))) {
      ++held;
    }
    VerifyHeld(members, {stripes.first, held}, action, loan.span(), findings, &result);
    stripes.first += held;
    stripes.count -= held;
  }
  result.skipped_stripes = findings->skipped_stripes - skipped_before;
  return result;
}

std::vector<SyncStripe> StripeEngine::MakeWindow(const MemberView& members, Stripes held,
                                                 StripeSync action) {
  std::vector<SyncStripe> window;
  window.reserve(held.count);
  for (uint64_t i = 0; i < held.count; ++i) {
    SyncStripe& stripe = window.emplace_back(geometry_, members, held.first + i);
    stripe.facts.set_parity_trusted(!in_doubt_(held.first + i));
    if (action != StripeSync::kCheck) {
      cache_.Drop(held.first + i);  // what is led may be changed
    }
    unsettled_.ApplyTo(stripe.facts, &stripe.member_errors);
    const bool repairs = action == StripeSync::kLocate || action == StripeSync::kParity;
    stripe.action = repairs && !stripe.facts.parity_trusted() ? StripeSync::kRecompute : action;
  }
  return window;
}

void StripeEngine::VerifyHeld(const MemberView& members, Stripes held, StripeSync action,
                              std::span<std::byte> memory, SyncFindings* findings,
                              EngineResult* result) {
  std::vector<SyncStripe> window = MakeWindow(members, held, action);
  const auto scratch = memory.last(kVerifyScratchBytes);
  const std::shared_ptr<const ResyncRequest> requests = RequestPolicy();
  ForEachWindow(geometry_, [&](ColumnRange columns) {
    SyncVerifier(window, columns, memory, scratch, requests.get()).Run();
  });
  for (const SyncStripe& stripe : window) {
    AddFindings(stripe, findings);
  }
  if (action == StripeSync::kCheck) {
    for (const SyncStripe& stripe : window) {
      locks_.UnlockShared(stripe.facts.stripe());
    }
    for (const SyncStripe& stripe : window) {  // waits for stripes, so nothing may be held
      MendAfter(members, stripe.facts.stripe(), stripe.to_mend, result);
    }
    return;
  }
  for (SyncStripe& stripe : window) {
    if (!stripe.is_skipped && stripe.full == 0 && stripe.action == StripeSync::kRecompute) {
      unsettled_.ParityRewritten(stripe.facts.stripe(), {0, geometry_.chunk_bytes()});
    }
    ConcludeLed(stripe, result);
    locks_.Finish(stripe.facts.stripe(), {}, nullptr);
  }
}

// What is left behind is noted before the stripe is given up.
void StripeEngine::ConcludeLed(SyncStripe& stripe, EngineResult* result) {
  Mend(stripe.facts, stripe.to_mend, result);
  result->mended_slots.insert(result->mended_slots.end(), stripe.mended_slots.begin(),
                              stripe.mended_slots.end());
  result->rewritten_bad.insert(result->rewritten_bad.end(), stripe.rewritten_bad.begin(),
                               stripe.rewritten_bad.end());
  result->still_bad |= stripe.still_bad;
  for (const MemberError& error : stripe.member_errors) {
    result->member_errors.push_back(error);
    unsettled_.NoteStale(stripe.facts, error);
  }
  if (stripe.full != 0) {
    result->error = stripe.full;
    if (stripe.action == StripeSync::kRecompute) {
      result->owed_stripes.push_back(stripe.facts.stripe());
      unsettled_.NoteOwedParity(stripe.facts.stripe(), {0, geometry_.chunk_bytes()});
    }
  }
}

// Waiting for a stripe while leading those before it: whoever else waits while leading does so in
// ascending order too, so there is no circle.
EngineResult StripeEngine::RecoverStripes(const MemberView& members, uint64_t first_stripe,
                                          uint64_t count, std::span<const RecoverTarget> targets,
                                          RecoverResult* recovered,
                                          const std::function<void()>& before_release) {
  EngineResult result;
  const uint64_t per_window = std::min(count, StripesPerWindow());
  WindowPool::Loan loan(windows_, WindowBytes(per_window) + kVerifyScratchBytes);  // all alike
  const std::shared_ptr<const ResyncRequest> requests = RequestPolicy();
  for (uint64_t i = 0; i < count; ++i) {
    locks_.Lead(first_stripe + i);
  }
  for (uint64_t done = 0; done < count; done += per_window) {
    std::vector<SyncStripe> window = MakeWindow(
        members, {first_stripe + done, std::min(per_window, count - done)}, StripeSync::kRecover);
    ForEachWindow(geometry_, [&](ColumnRange columns) {
      SyncRecoverer(window, columns, loan.span(), targets, recovered, requests.get()).Run();
    });
    for (SyncStripe& stripe : window) {
      ConcludeLed(stripe, &result);
    }
  }
  if (recovered->target_errors.empty() && before_release) {
    before_release();
  }
  for (uint64_t i = 0; i < count; ++i) {
    locks_.Finish(first_stripe + i, {}, nullptr);
  }
  return result;
}

}  // namespace mdvol
