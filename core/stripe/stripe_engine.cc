// See stripe_engine.h. Writes and reads; check, repair and recovery are in engine_sync.cc.

#include "core/stripe/stripe_engine.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/stripe/cached_reader.h"
#include "core/stripe/chunks.h"
#include "core/stripe/io_errors.h"
#include "core/stripe/mend.h"

namespace mdvol {
namespace {

// Bounds of a step: so many stripes are led at once at most, so many reconstructed from at once.
constexpr size_t kStripesPerStep = 256;
constexpr uint64_t kZeroChunksPerPart = 16384;
constexpr uint64_t kMostKeptBytes = 64 * kKiB;  // of a write to a stripe, for the stripe cache

template <typename List>
void Append(const List& more, List* list) {
  list->insert(list->end(), more.begin(), more.end());
}

void Merge(const StripeWrite& write, EngineResult* result) {
  if (write.error != 0) {
    result->error = write.error;
  }
  Append(write.member_errors, &result->member_errors);
}

void Merge(const EngineResult& part, EngineResult* result) {
  if (part.error != 0) {
    result->error = part.error;
  }
  Append(part.member_errors, &result->member_errors);
  Append(part.owed_stripes, &result->owed_stripes);
  Append(part.mended_slots, &result->mended_slots);
  Append(part.rewritten_bad, &result->rewritten_bad);
  result->still_bad |= part.still_bad;
}

}  // namespace

// ---- Writes ----

EngineResult StripeEngine::Write(const MemberView& members, uint64_t offset_bytes,
                                 std::span<const std::byte> data) {
  if (data.empty()) {
    return {};
  }
  const uint64_t first = offset_bytes / geometry_.stripe_bytes();
  const uint64_t last = (offset_bytes + data.size() - 1) / geometry_.stripe_bytes();
  absl::InlinedVector<StripeWrite, 1> writes(last - first + 1);
  ForEachChunk(geometry_, offset_bytes, data.size(),
               [&](uint64_t stripe, uint32_t data_index, ColumnRange columns, uint64_t at) {
                 StripeWrite& write = writes[stripe - first];
                 write.stripe = stripe;
                 write.extents.push_back({data_index, columns, data.data() + at});
               });
  return RunWrites(members, {writes.data(), writes.size()});
}

EngineResult StripeEngine::Zero(const MemberView& members, uint64_t offset_bytes,
                                uint64_t length_bytes) {
  EngineResult total;
  const uint64_t stripe_bytes = geometry_.stripe_bytes();
  const uint64_t stripes_per_part = kZeroChunksPerPart / geometry_.data_disks();
  while (length_bytes > 0) {
    const uint64_t first = offset_bytes / stripe_bytes;
    const uint64_t end_of_part =
        std::min((first + stripes_per_part) * stripe_bytes, offset_bytes + length_bytes);
    const uint64_t length = end_of_part - offset_bytes;
    const uint64_t last = (end_of_part - 1) / stripe_bytes;
    std::vector<StripeWrite> writes(last - first + 1);
    for (uint64_t i = 0; i < writes.size(); ++i) {
      writes[i].stripe = first + i;
      writes[i].zero_stripe = offset_bytes <= (first + i) * stripe_bytes &&
                              (first + i + 1) * stripe_bytes <= end_of_part;
    }
    ForEachChunk(geometry_, offset_bytes, length,
                 [&](uint64_t stripe, uint32_t data_index, ColumnRange columns, uint64_t) {
                   writes[stripe - first].extents.push_back({data_index, columns, ZeroChunk()});
                 });
    Merge(RunWrites(members, {writes.data(), writes.size()}), &total);
    offset_bytes = end_of_part;
    length_bytes -= length;
  }
  return total;
}

// Small writes keep the stripe's lanes up to date, all others drop them.
void StripeEngine::ChooseCache(StripeStep& step) {
  uint64_t bytes = 0;
  for (const NewExtent& extent : step.extents) {
    bytes += extent.columns.size();
  }
  if (step.punch_hole || bytes > kMostKeptBytes || cache_.size() == 0 || !MayCache(step.facts)) {
    cache_.Drop(step.facts.stripe());
  } else {
    step.cache = &cache_;
  }
}

void StripeEngine::AddStep(const MemberView& members, uint64_t stripe,
                           std::span<StripeWrite* const> group, std::vector<StripeStep>* steps) {
  StripeStep& step = steps->emplace_back(geometry_, members, stripe);
  step.facts.set_parity_trusted(!in_doubt_(stripe));
  unsettled_.ApplyTo(step.facts, &step.member_errors);
  step.group.assign(group.begin(), group.end());
  // Where blocks are bad, zeroes are written: so it shows which of them are bad still.
  step.punch_hole = group.size() == 1 && group[0]->zero_stripe && !step.facts.HasCheckpoint() &&
                    !step.facts.HasBadBlocks();
  if (group.size() == 1 && !step.punch_hole) {
    step.extents.assign(group[0]->extents.begin(), group[0]->extents.end());
  } else if (!step.punch_hole) {
    ExtentList all;
    for (const StripeWrite* write : group) {
      all.insert(all.end(), write->extents.begin(), write->extents.end());
    }
    step.extents = FlattenExtents(all);
  }
  ChooseCache(step);
}

// Tells everybody in the group what came of their bytes: an error of columns concerns those who
// wrote there.
void StripeEngine::Answer(const StripeStep& step) {
  for (StripeWrite* write : step.group) {
    for (const ColumnError& error : step.errors) {
      if (std::any_of(write->extents.begin(), write->extents.end(), [&](const NewExtent& extent) {
            return extent.columns.Intersects(error.columns);
          })) {
        write->error = error.error;
      }
    }
    write->member_errors = step.member_errors;
  }
}

// What is left behind is noted before the stripe is given up: whoever has it next must know.
void StripeEngine::Conclude(const StripeStep& step, StripeWrite& self, EngineResult* result) {
  const uint64_t stripe = step.facts.stripe();
  Answer(step);
  for (const ColumnRange& columns : step.paid) {
    unsettled_.ParityRewritten(stripe, columns);
  }
  for (const ColumnRange& columns : step.owed) {
    unsettled_.NoteOwedParity(stripe, columns);
  }
  if (!step.owed.empty()) {
    result->owed_stripes.push_back(stripe);
  }
  for (const MemberError& error : step.stale) {
    unsettled_.NoteStale(step.facts, error);
  }
  Append(step.mended_slots, &result->mended_slots);
  Append(step.rewritten_bad, &result->rewritten_bad);
  result->still_bad |= step.still_bad;
  if (step.cache != nullptr && (step.must_drop || !step.errors.empty() ||
                                !step.member_errors.empty() || !step.owed.empty())) {
    cache_.Drop(stripe);
  }
  locks_.Finish(stripe, step.group, &self);
  Merge(self, result);
}

EngineResult StripeEngine::RunWrites(const MemberView& members, std::span<StripeWrite> writes) {
  EngineResult result;
  const std::shared_ptr<const ParityWorkers> parity =
      policies_ == nullptr ? nullptr : policies_->parity_workers.Get();
  std::vector<StripeStep> steps;
  size_t next = 0;
  while (next < writes.size()) {
    steps.clear();
    const size_t first = next;
    while (next < writes.size() && steps.size() < kStripesPerStep) {
      StripeWrite& write = writes[next];
      if (locks_.TryLead(write.stripe)) {
        StripeWrite* self = &write;
        AddStep(members, write.stripe, {&self, 1}, &steps);
        ++next;
        continue;
      }
      if (!steps.empty()) {
        break;  // never wait for a stripe while leading others
      }
      WriteGroup group;
      if (!locks_.Join(write, &group)) {
        Merge(write, &result);
        ++next;
        break;  // answered by another leader: start over with the next stripe
      }
      AddStep(members, write.stripe, group, &steps);
      ++next;
    }
    if (steps.empty()) {
      continue;
    }
    WriteExecutor(steps, rmw_level(), {parity.get(), &parity_threads_}, {&clock_, &read_pace_})
        .Run();
    for (size_t i = 0; i < steps.size(); ++i) {
      Conclude(steps[i], writes[first + i], &result);
    }
  }
  return result;
}

// ---- Reads ----

EngineResult StripeEngine::Read(const MemberView& members, uint64_t offset_bytes,
                                std::span<std::byte> out) {
  if (policies_ != nullptr && CountDegraded(geometry_, members) > 0) {
    if (const auto policy = policies_->degraded_read.Get(); policy != nullptr) {
      return ReadDegraded(members, *policy, offset_bytes, out);
    }
  }
  EngineResult result;
  DirectReads direct;
  std::vector<ReadStep> steps;
  PlanReads(members, offset_bytes, out, &direct, &steps);
  RunDirect(members, {direct.data(), direct.size()}, &steps);
  RunReads(steps, &result);
  return result;
}

// What failed is to be read again, lane by lane, by the executor, in steps of its own.
void StripeEngine::RunDirect(const MemberView& members, std::span<const DirectRead> direct,
                             std::vector<ReadStep>* again) {
  IoBatch batch;
  for (const DirectRead& chunk : direct) {
    const SlotView& view = members.slots[chunk.slot];
    batch.AddRead(view.device,
                  view.data_offset_bytes + (chunk.stripe << geometry_.chunk_shift()) +
                      chunk.wanted.columns.begin,
                  chunk.wanted.into, chunk.wanted.columns.size());
  }
  if (batch.empty() || batch.Run()) {
    return;
  }
  const size_t planned = again->size();
  for (size_t i = 0; i < direct.size(); ++i) {
    if (batch.error(i) == 0) {
      continue;
    }
    if (again->size() == planned || again->back().facts.stripe() != direct[i].stripe) {
      again->emplace_back(geometry_, members, direct[i].stripe).lane_by_lane = true;
    }
    again->back().wanted.push_back(direct[i].wanted);
  }
}

// Chunks that can be read straight into the caller's buffer, without a lock, and stripes that need
// the executor. No stripe has both: what is read of its live chunks serves the reconstruction.
void StripeEngine::PlanReads(const MemberView& members, uint64_t offset_bytes,
                             std::span<std::byte> out, DirectReads* direct,
                             std::vector<ReadStep>* steps) const {
  const auto plan = [&](uint64_t stripe, uint32_t data_index, ColumnRange columns, uint64_t at) {
    const WantedExtent wanted{data_index, columns, out.data() + at};
    if (!steps->empty() && steps->back().facts.stripe() == stripe) {
      steps->back().wanted.push_back(wanted);
      return;
    }
    const StripeFacts facts(geometry_, members, stripe);
    const uint32_t slot = facts.roles().DataSlot(data_index);
    if (facts.Readable(slot, columns)) {
      const uint64_t alignment = facts.Device(slot)->alignment_bytes();
      if (IsAligned(columns.begin | columns.end, alignment) && IsAligned(wanted.into, alignment)) {
        direct->push_back({stripe, slot, wanted});
        return;
      }
    }
    ReadStep& step = steps->emplace_back(geometry_, members, stripe);
    while (!direct->empty() && direct->back().stripe == stripe) {
      step.wanted.insert(step.wanted.begin(), direct->back().wanted);
      direct->pop_back();
    }
    step.wanted.push_back(wanted);
  };
  ForEachChunk(geometry_, offset_bytes, out.size(), plan);
}

// Takes as many stripes at once as can be had without waiting for one while holding another. Steps
// of one stripe run one after the other: they may read the same bytes.
void StripeEngine::RunReads(std::span<ReadStep> steps, EngineResult* result) {
  while (!steps.empty()) {
    locks_.LockShared(steps[0].facts.stripe());
    size_t count = 1;
    while (count < steps.size() && count < kStripesPerStep &&
           steps[count].facts.stripe() > steps[count - 1].facts.stripe() &&
           locks_.TryLockShared(steps[count].facts.stripe())) {
      ++count;
    }
    const std::span<ReadStep> held = steps.first(count);
    MemberErrors already_answered;  // by the writers that met them
    bool keeps = false;
    for (ReadStep& step : held) {
      unsettled_.ApplyTo(step.facts, &already_answered);
      if (step.keep) {
        step.facts.set_parity_trusted(!in_doubt_(step.facts.stripe()));
        keeps = true;
      }
    }
    if (keeps) {
      const uint64_t now_ns = clock_.NowNs();
      CachedReader(cache_, now_ns).Run(held, [this, now_ns](const ReadStep& step) {
        ReadNextStripe(step, now_ns);
      });
    }
    ReadExecutor(held).Run();
    for (const ReadStep& step : held) {
      locks_.UnlockShared(step.facts.stripe());
    }
    for (const ReadStep& step : held) {
      if (step.error != 0) {
        result->error = step.error;
      }
      MendAfter(step.facts.members(), step.facts.stripe(), step.read_errors, result);
    }
    steps = steps.subspan(count);
  }
}

void StripeEngine::MendAfter(const MemberView& members, uint64_t stripe,
                             std::span<const UnreadableBlock> blocks, EngineResult* result) {
  if (blocks.empty() || !members.writable) {
    return;
  }
  locks_.Lead(stripe);
  cache_.Drop(stripe);
  StripeFacts facts = FactsOfLed(members, stripe);
  for (const UnreadableBlock& block : blocks) {
    facts.MarkUnreadable(block.slot, block.columns);
  }
  Mend(facts, blocks, result);
  locks_.Finish(stripe, {}, nullptr);
}

// What is known of a stripe that is led for other reasons than a write.
StripeFacts StripeEngine::FactsOfLed(const MemberView& members, uint64_t stripe) {
  StripeFacts facts(geometry_, members, stripe);
  facts.set_parity_trusted(!in_doubt_(stripe));
  MemberErrors already_answered;  // by the writers that met them
  unsettled_.ApplyTo(facts, &already_answered);
  return facts;
}

void StripeEngine::Mend(StripeFacts& facts, std::span<const UnreadableBlock> blocks,
                        EngineResult* result) {
  absl::InlinedVector<uint32_t, 1> failed_slots;
  for (const UnreadableBlock& block : blocks) {
    if (std::find(failed_slots.begin(), failed_slots.end(), block.slot) != failed_slots.end()) {
      continue;
    }
    const bool was_bad = !facts.HasReadError(block.slot, block.columns);
    const MendOutcome outcome = MendBlock(facts, block.slot, block.columns);
    if (outcome.write_error != 0) {
      if (was_bad) {
        result->still_bad = true;
        continue;
      }
      failed_slots.push_back(block.slot);
      if (!IsFull(outcome.write_error)) {
        result->member_errors.push_back(
            {.slot = block.slot,
             .error = outcome.write_error,
             .is_read = true,
             .bad = {facts.MemberOffset(block.slot, block.columns.begin),
                     facts.MemberOffset(block.slot, block.columns.end)}});
      }
    } else if (outcome.recovered && facts.parity_trusted()) {
      facts.NoteRewritten(block.slot, block.columns, &result->rewritten_bad);
      if (!was_bad) {
        result->mended_slots.push_back(block.slot);
      }
    }
  }
}

}  // namespace mdvol
