// See stripe_engine.h. Writes and reads only; parity recomputation is in parity_recompute.cc.

#include "core/stripe/stripe_engine.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/base/check.h"
#include "core/base/units.h"
#include "core/stripe/mend.h"

namespace mdvol {
namespace {

// Bounds of a step: so many stripes are led at once at most, so many reconstructed from at once.
constexpr size_t kStripesPerStep = 256;
constexpr uint64_t kZeroStripesPerCall = 4096;

// Calls visit(stripe, data_index, columns, offset in the request) for every chunk that the range
// touches, in volume order.
template <typename Visit>
void ForEachChunk(const ArrayGeometry& geometry, uint64_t offset_bytes, uint64_t length_bytes,
                  Visit visit) {
  uint64_t done = 0;
  while (done < length_bytes) {
    const uint64_t chunk_number = (offset_bytes + done) >> geometry.chunk_shift();
    const uint64_t begin = (offset_bytes + done) & (geometry.chunk_bytes() - 1);
    const uint64_t end = std::min(geometry.chunk_bytes(), begin + (length_bytes - done));
    visit(chunk_number / geometry.data_disks(),
          static_cast<uint32_t>(chunk_number % geometry.data_disks()), ColumnRange{begin, end},
          done);
    done += end - begin;
  }
}

void Merge(const StripeWrite& write, EngineResult* result) {
  if (write.error != 0) {
    result->error = write.error;
  }
  result->member_errors.insert(result->member_errors.end(), write.member_errors.begin(),
                               write.member_errors.end());
}

bool IsAligned(uint64_t value, uint64_t alignment) { return (value & (alignment - 1)) == 0; }

}  // namespace

// ---- Writes
// ----------------------------------------------------------------------------------------

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
  while (length_bytes > 0) {
    const uint64_t first = offset_bytes / geometry_.stripe_bytes();
    const uint64_t end_of_call = std::min((first + kZeroStripesPerCall) * geometry_.stripe_bytes(),
                                          offset_bytes + length_bytes);
    const uint64_t length = end_of_call - offset_bytes;
    const uint64_t last = (end_of_call - 1) / geometry_.stripe_bytes();
    std::vector<StripeWrite> writes(last - first + 1);
    for (uint64_t i = 0; i < writes.size(); ++i) {
      writes[i].stripe = first + i;
      writes[i].zero_stripe = offset_bytes <= (first + i) * geometry_.stripe_bytes() &&
                              (first + i + 1) * geometry_.stripe_bytes() <= end_of_call;
    }
    ForEachChunk(geometry_, offset_bytes, length,
                 [&](uint64_t stripe, uint32_t data_index, ColumnRange columns, uint64_t) {
                   writes[stripe - first].extents.push_back({data_index, columns, ZeroChunk()});
                 });
    EngineResult part = RunWrites(members, {writes.data(), writes.size()});
    if (part.error != 0) {
      total.error = part.error;
    }
    total.member_errors.insert(total.member_errors.end(), part.member_errors.begin(),
                               part.member_errors.end());
    total.owed_stripes.insert(total.owed_stripes.end(), part.owed_stripes.begin(),
                              part.owed_stripes.end());
    total.mended_slots.insert(total.mended_slots.end(), part.mended_slots.begin(),
                              part.mended_slots.end());
    offset_bytes = end_of_call;
    length_bytes -= length;
  }
  return total;
}

void StripeEngine::AddStep(const MemberView& members, uint64_t stripe,
                           std::span<StripeWrite* const> group, std::vector<StripeStep>* steps) {
  StripeStep& step = steps->emplace_back(geometry_, members, stripe);
  step.facts.set_parity_trusted(!in_doubt_(stripe));
  step.group.assign(group.begin(), group.end());
  step.punch_hole = group.size() == 1 && group[0]->zero_stripe;
  if (step.punch_hole) {
    return;
  }
  if (group.size() == 1) {
    step.extents.assign(group[0]->extents.begin(), group[0]->extents.end());
    return;
  }
  ExtentList all;
  for (const StripeWrite* write : group) {
    all.insert(all.end(), write->extents.begin(), write->extents.end());
  }
  step.extents = FlattenExtents(all);
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

EngineResult StripeEngine::RunWrites(const MemberView& members, std::span<StripeWrite> writes) {
  EngineResult result;
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
    WriteExecutor(steps, rmw_level()).Run();
    for (size_t i = 0; i < steps.size(); ++i) {
      const StripeStep& step = steps[i];
      Answer(step);
      if (step.owes_parity) {
        result.owed_stripes.push_back(step.facts.stripe());
      }
      result.mended_slots.insert(result.mended_slots.end(), step.mended_slots.begin(),
                                 step.mended_slots.end());
      locks_.Finish(step.facts.stripe(), step.group, &writes[first + i]);
      Merge(writes[first + i], &result);
    }
  }
  return result;
}

// ---- Reads
// -----------------------------------------------------------------------------------------

EngineResult StripeEngine::Read(const MemberView& members, uint64_t offset_bytes,
                                std::span<std::byte> out) {
  EngineResult result;
  struct Direct {
    uint64_t stripe;
    uint32_t slot;
    WantedExtent wanted;
  };
  absl::InlinedVector<Direct, 8> direct;
  std::vector<ReadStep> steps;  // stripes that need the executor
  IoBatch batch;
  const auto needs_executor = [&](const StripeFacts& facts, uint32_t slot, ColumnRange columns,
                                  const std::byte* into) {
    if (!facts.Readable(slot, columns)) {
      return true;
    }
    const uint64_t alignment = facts.Device(slot)->alignment_bytes();
    return !IsAligned(columns.begin | columns.end | reinterpret_cast<uintptr_t>(into), alignment);
  };
  ForEachChunk(geometry_, offset_bytes, out.size(),
               [&](uint64_t stripe, uint32_t data_index, ColumnRange columns, uint64_t at) {
                 std::byte* into = out.data() + at;
                 if (!steps.empty() && steps.back().facts.stripe() == stripe) {
                   steps.back().wanted.push_back({data_index, columns, into});
                   return;
                 }
                 StripeFacts facts(geometry_, members, stripe);
                 const uint32_t slot = facts.roles().DataSlot(data_index);
                 if (!needs_executor(facts, slot, columns, into)) {
                   direct.push_back({stripe, slot, {data_index, columns, into}});
                   return;
                 }
                 // The stripe's earlier chunks move over too: what is read of them serves the
                 // reconstruction.
                 ReadStep& step = steps.emplace_back(geometry_, members, stripe);
                 while (!direct.empty() && direct.back().stripe == stripe) {
                   step.wanted.insert(step.wanted.begin(), direct.back().wanted);
                   direct.pop_back();
                 }
                 step.wanted.push_back({data_index, columns, into});
               });
  for (const Direct& chunk : direct) {
    const SlotView& view = members.slots[chunk.slot];
    batch.AddRead(view.device,
                  view.data_offset_bytes + (chunk.stripe << geometry_.chunk_shift()) +
                      chunk.wanted.columns.begin,
                  chunk.wanted.into, chunk.wanted.columns.size());
  }
  if (!batch.empty() && !batch.Run()) {
    for (size_t i = 0; i < direct.size(); ++i) {
      if (batch.error(i) != 0) {
        RetryDirect(members, direct[i].stripe, direct[i].slot, direct[i].wanted, &result);
      }
    }
  }
  for (size_t first = 0; first < steps.size(); first += kStripesPerStep) {
    const size_t count = std::min(kStripesPerStep, steps.size() - first);
    RunReads(std::span(steps).subspan(first, count), &result);
  }
  return result;
}

// Reconstructs stripe by stripe: shares are taken one at a time, since nobody may wait for one
// while holding another.
void StripeEngine::RunReads(std::span<ReadStep> steps, EngineResult* result) {
  for (ReadStep& step : steps) {
    const uint64_t stripe = step.facts.stripe();
    locks_.LockShared(stripe);
    ReadExecutor({&step, 1}).Run();
    locks_.UnlockShared(stripe);
    if (step.error != 0) {
      result->error = step.error;
    }
    if (!step.read_errors.empty() && step.facts.members().writable) {
      MendAfter(step.facts.members(), step, result);
    }
  }
}

// A direct read failed: read the chunk through the executor with the block marked unreadable, then
// mend it.
void StripeEngine::RetryDirect(const MemberView& members, uint64_t stripe, uint32_t slot,
                               const WantedExtent& wanted, EngineResult* result) {
  ReadStep step(geometry_, members, stripe);
  const ColumnRange block{RoundDown(wanted.columns.begin, members.alignment_bytes),
                          RoundUp(wanted.columns.end, members.alignment_bytes)};
  step.facts.MarkUnreadable(slot, block);
  step.read_errors.push_back({slot, block});
  step.wanted.push_back(wanted);
  RunReads({&step, 1}, result);
}

void StripeEngine::MendAfter(const MemberView& members, ReadStep& step, EngineResult* result) {
  const uint64_t stripe = step.facts.stripe();
  StripeFacts facts(geometry_, members, stripe);
  facts.set_parity_trusted(!in_doubt_(stripe));
  for (const UnreadableBlock& block : step.read_errors) {
    facts.MarkUnreadable(block.slot, block.columns);
  }
  locks_.Lead(stripe);
  for (const UnreadableBlock& block : step.read_errors) {
    const MendOutcome outcome = MendBlock(facts, block.slot, block.columns);
    if (outcome.write_error != 0) {
      result->member_errors.push_back(
          {.slot = block.slot, .error = outcome.write_error, .is_read = true});
    } else if (outcome.recovered && facts.parity_trusted()) {
      result->mended_slots.push_back(block.slot);
    }
  }
  locks_.Finish(stripe, {}, nullptr);
}

}  // namespace mdvol
