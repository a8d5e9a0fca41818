// See settle.h. Works piece by piece in the thread's scratch.

#include "core/stripe/settle.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/parity/parity.h"
#include "core/stripe/io_errors.h"
#include "core/stripe/scratch.h"

namespace mdvol {
namespace {

using DataBlocks = absl::InlinedVector<ConstBlock, 16>;

// The new bytes of a chunk that `extents` cover in these columns.
std::byte* Assemble(std::span<const NewExtent> extents, uint32_t data_index, ColumnRange columns) {
  std::byte* const bytes = Scratch::OfThisThread().Take(columns.size());
  for (const NewExtent& extent : extents) {
    if (extent.data_index == data_index && extent.columns.Intersects(columns)) {
      const uint64_t begin = std::max(extent.columns.begin, columns.begin);
      const uint64_t end = std::min(extent.columns.end, columns.end);
      std::memcpy(bytes + (begin - columns.begin), extent.bytes + (begin - extent.columns.begin),
                  end - begin);
    }
  }
  return bytes;
}

bool GatherData(const StripeFacts& facts, std::span<const NewExtent> extents, ColumnRange columns,
                DataBlocks* data) {
  IoBatch batch;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = facts.roles().DataSlot(k);
    const std::byte* bytes = nullptr;
    if (facts.Readable(slot, columns)) {
      std::byte* const into = Scratch::OfThisThread().Take(columns.size());
      batch.AddRead(facts.Device(slot), facts.MemberOffset(slot, columns.begin), into,
                    columns.size());
      bytes = into;
    } else if (!extents.empty()) {
      if (CoverOf(extents, k, columns) != Cover::kWhole) {
        return false;
      }
      bytes = Assemble(extents, k, columns);
    }
    data->push_back({facts.BlockIdOf(slot), bytes});
  }
  return batch.empty() || batch.Run();
}

bool SettlePiece(const StripeFacts& facts, std::span<const NewExtent> extents, ColumnRange columns,
                 MemberErrors* failed) {
  Scratch& scratch = Scratch::OfThisThread();
  scratch.Reset();
  DataBlocks data;
  if (!GatherData(facts, extents, columns, &data)) {
    return false;
  }
  const uint32_t slots[] = {facts.roles().p_slot(), facts.roles().q_slot()};
  std::byte* const parity[] = {scratch.Take(columns.size()), scratch.Take(columns.size())};
  GenerateParity(data, parity[0], parity[1], columns.size());
  IoBatch batch;
  absl::InlinedVector<uint32_t, 2> written;
  for (size_t i = 0; i < 2; ++i) {
    if (facts.Access(slots[i], columns) != SlotAccess::kAbsent) {
      batch.AddWrite(facts.Device(slots[i]), facts.MemberOffset(slots[i], columns.begin), parity[i],
                     columns.size());
      written.push_back(slots[i]);
    }
  }
  bool is_settled = true;
  if (!batch.empty() && !batch.Run()) {
    for (size_t i = 0; i < written.size(); ++i) {
      if (IsFull(batch.error(i))) {
        is_settled = false;
      } else if (batch.error(i) != 0) {
        failed->push_back({.slot = written[i], .error = batch.error(i)});
      }
    }
  }
  return is_settled;
}

}  // namespace

bool SettleParity(const StripeFacts& facts, std::span<const NewExtent> extents, ColumnRange columns,
                  MemberErrors* failed) {
  const StripeRoles& roles = facts.roles();
  if (facts.Access(roles.p_slot(), columns) == SlotAccess::kAbsent &&
      facts.Access(roles.q_slot(), columns) == SlotAccess::kAbsent) {
    return true;  // there is no parity to be right or wrong
  }
  const uint64_t longest = PieceBytes(facts.geometry().raid_disks() + 2);
  bool is_settled = true;
  for (uint64_t begin = columns.begin; begin < columns.end; begin += longest) {
    const ColumnRange piece{begin, std::min(begin + longest, columns.end)};
    is_settled &= SettlePiece(facts, extents, piece, failed);
  }
  return is_settled;
}

}  // namespace mdvol
