// StripeEngine: reads while members are missing, as the degraded_read policy wishes them.

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/stripe/cached_reader.h"
#include "core/stripe/chunks.h"
#include "core/stripe/stripe_engine.h"

namespace mdvol {
namespace {

// What of the stripe's data is lost, and what of it is wanted.
void AddStripe(const StripeFacts& facts, std::span<const WantedExtent> wanted,
               DegradedReadFacts* known) {
  const ColumnRange chunk{0, facts.geometry().chunk_bytes()};
  known->lost_chunks = 0;
  known->first_lost = facts.geometry().raid_disks();
  known->last_lost = 0;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    if (facts.Access(slot, chunk) != SlotAccess::kAbsent) {
      continue;
    }
    const ChunkRole role = facts.roles().RoleOf(slot);
    if (role.kind == ChunkKind::kData) {
      const uint32_t index = role.data_index;
      known->first_lost = std::min(known->first_lost, index);
      known->last_lost = std::max(known->last_lost, index);
      ++known->lost_chunks;
    }
  }
  known->first_chunk = wanted.front().data_index;
  known->last_chunk = wanted.back().data_index;
  known->part_bytes = 0;
  known->wants_lost = false;
  for (const WantedExtent& extent : wanted) {
    known->part_bytes += extent.columns.size();
    known->wants_lost |= !facts.Readable(facts.roles().DataSlot(extent.data_index), extent.columns);
  }
}

// Calls visit(facts, wanted) for every stripe of the range.
template <typename Visit>
void ForEachStripe(const ArrayGeometry& geometry, const MemberView& members, uint64_t offset_bytes,
                   std::span<std::byte> out, Visit visit) {
  uint64_t current = 0;
  WantedList wanted;
  const auto finish = [&] {
    if (!wanted.empty()) {
      visit(StripeFacts(geometry, members, current), wanted);
      wanted.clear();
    }
  };
  ForEachChunk(geometry, offset_bytes, out.size(),
               [&](uint64_t stripe, uint32_t data_index, ColumnRange columns, uint64_t at) {
                 if (stripe != current) {
                   finish();
                   current = stripe;
                 }
                 wanted.push_back({data_index, columns, out.data() + at});
               });
  finish();
}

}  // namespace

DegradedReadFacts StripeEngine::FactsOfRead(const MemberView& members, uint64_t offset_bytes,
                                            uint64_t length_bytes) {
  DegradedReadFacts known;
  known.now_ns = clock_.NowNs();
  known.raid_disks = geometry_.raid_disks();
  known.chunk_bytes = geometry_.chunk_bytes();
  known.degraded = CountDegraded(geometry_, members);
  known.cache_lanes = cache_.size();
  const ReadRun run = read_runs_.Note(offset_bytes, length_bytes, known.now_ns);
  known.run_requests = run.requests;
  known.run_bytes = run.bytes;
  known.run_gap_ns = run.gap_ns;
  known.active_runs = run.active_runs;
  return known;
}

EngineResult StripeEngine::ReadDegraded(const MemberView& members, DegradedRead& policy,
                                        uint64_t offset_bytes, std::span<std::byte> out) {
  EngineResult result;
  if (out.empty()) {
    return result;
  }
  DegradedReadFacts known = FactsOfRead(members, offset_bytes, out.size());
  ReadPlan plan;
  ForEachStripe(geometry_, members, offset_bytes, out,
                [&](const StripeFacts& facts, const WantedList& wanted) {
                  AddStripe(facts, wanted, &known);
                  PlanDegraded(policy.Decide(known), facts, wanted, &plan);
                });
  RunDirect(members, {plan.direct.data(), plan.direct.size()}, &plan.steps);
  RunReads(plan.steps, &result);
  result.wants_upkeep = cache_.WantsTimer();
  return result;
}

// Nobody waits for the stripe, and nothing is lost if it cannot be had.
void StripeEngine::ReadNextStripe(const ReadStep& step, uint64_t now_ns) {
  const uint64_t stripe = step.facts.stripe() + 1;
  if (stripe >= geometry_.stripe_count() || cache_.IsKept(stripe) ||
      !locks_.TryLockShared(stripe)) {
    return;
  }
  ReadStep next(geometry_, step.facts.members(), stripe);
  next.keep = true;
  next.ahead_bytes = step.ahead_bytes;
  next.retention_ns = step.retention_ns;
  MemberErrors already_answered;  // by the writers that met them
  unsettled_.ApplyTo(next.facts, &already_answered);
  next.facts.set_parity_trusted(!in_doubt_(stripe));
  CachedReader(cache_, now_ns).Fetch(next);
  locks_.UnlockShared(stripe);
}

// Numbers of a policy are clamped to what makes sense; a step that cannot be kept is served all the
// same.
void StripeEngine::PlanDegraded(const DegradedReadDecision& decision, const StripeFacts& facts,
                                std::span<const WantedExtent> wanted, ReadPlan* plan) const {
  const auto add_step = [&](std::span<const WantedExtent> extents) -> ReadStep& {
    ReadStep& step = plan->steps.emplace_back(geometry_, facts.members(), facts.stripe());
    step.wanted.assign(extents.begin(), extents.end());
    step.all_survivors = decision.all_survivors;
    return step;
  };
  if (decision.keep) {
    ReadStep& step = add_step(wanted);
    step.keep = true;
    step.ahead_bytes =
        std::min(RoundDown(decision.ahead_bytes, kLaneBytes), geometry_.chunk_bytes());
    step.next_stripe = decision.next_stripe && step.ahead_bytes != 0;
    step.retention_ns =
        std::min<uint64_t>(decision.retention_ns, std::numeric_limits<uint64_t>::max() / 4);
    step.until_delivered = decision.until_delivered;
    return;
  }
  const auto is_direct = [&](const WantedExtent& extent) {
    const uint32_t slot = facts.roles().DataSlot(extent.data_index);
    if (!facts.Readable(slot, extent.columns)) {
      return false;
    }
    const uint64_t alignment = facts.Device(slot)->alignment_bytes();
    return IsAligned(extent.columns.begin | extent.columns.end, alignment) &&
           IsAligned(extent.into, alignment);
  };
  const auto add_direct = [&](const WantedExtent& extent) {
    plan->direct.push_back({facts.stripe(), facts.roles().DataSlot(extent.data_index), extent});
  };
  if (decision.apart) {
    for (const WantedExtent& extent : wanted) {
      if (is_direct(extent)) {
        add_direct(extent);
      } else {
        add_step({&extent, 1});
      }
    }
  } else if (std::all_of(wanted.begin(), wanted.end(), is_direct)) {
    std::for_each(wanted.begin(), wanted.end(), add_direct);
  } else {
    add_step(wanted);
  }
}

}  // namespace mdvol
