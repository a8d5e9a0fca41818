// See mend.h. Works piece by piece in the thread's scratch: all data blocks, then the block itself.

#include "core/stripe/mend.h"

#include <algorithm>
#include <cerrno>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/parity/parity.h"
#include "core/stripe/decode.h"
#include "core/stripe/scratch.h"

namespace mdvol {
namespace {

using Blocks = absl::InlinedVector<std::byte*, 16>;

// Reads what PlanDecode names into `blocks` (by slot); on read errors marks them and plans again
// until a plan can be read or none is left.
bool ReadForDecode(StripeFacts& facts, ColumnRange columns, DecodeSet* decode, Blocks* blocks) {
  for (;;) {
    decode->read_slots.clear();
    decode->lost_slots.clear();
    if (!PlanDecode(facts, columns, decode)) {
      return false;
    }
    Scratch& scratch = Scratch::OfThisThread();
    scratch.Reset();
    blocks->assign(facts.geometry().raid_disks(), nullptr);
    IoBatch batch(IoBatch::Reads::kForOthers);
    for (const uint32_t slot : decode->read_slots) {
      (*blocks)[slot] = scratch.Take(columns.size());
      batch.AddRead(facts.Device(slot), facts.MemberOffset(slot, columns.begin), (*blocks)[slot],
                    columns.size());
    }
    if (batch.Run()) {
      return true;
    }
    for (size_t i = 0; i < decode->read_slots.size(); ++i) {
      if (batch.error(i) != 0) {
        facts.MarkUnreadable(decode->read_slots[i], columns);
      }
    }
  }
}

// The bytes of the block in `slot`, or null when they cannot be had.
std::byte* RecoverPiece(StripeFacts& facts, uint32_t slot, ColumnRange columns) {
  DecodeSet decode;
  Blocks blocks;
  if (!ReadForDecode(facts, columns, &decode, &blocks)) {
    return nullptr;
  }
  for (const uint32_t lost_slot : decode.lost_slots) {
    blocks[lost_slot] = Scratch::OfThisThread().Take(columns.size());
  }
  if (!Decode(facts, columns, decode, blocks)) {
    return nullptr;
  }
  const BlockId id = facts.BlockIdOf(slot);
  if (id.kind == BlockKind::kData) {
    return blocks[slot];
  }
  absl::InlinedVector<ConstBlock, 16> data;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t data_slot = facts.roles().DataSlot(k);
    data.push_back({facts.BlockIdOf(data_slot), blocks[data_slot]});
  }
  std::byte* parity = Scratch::OfThisThread().Take(columns.size());
  GenerateParity(data, id.kind == BlockKind::kP ? parity : nullptr,
                 id.kind == BlockKind::kQ ? parity : nullptr, columns.size());
  return parity;
}

int WriteAndReadAgain(const StripeFacts& facts, uint32_t slot, ColumnRange columns,
                      std::byte* bytes) {
  IoBatch batch(IoBatch::Reads::kForOthers);
  batch.AddWrite(facts.Device(slot), facts.MemberOffset(slot, columns.begin), bytes,
                 columns.size());
  if (!batch.Run()) {
    return batch.error(0);
  }
  batch.Clear();
  batch.AddRead(facts.Device(slot), facts.MemberOffset(slot, columns.begin), bytes, columns.size());
  return batch.Run() ? 0 : batch.error(0);
}

}  // namespace

MendOutcome MendBlock(StripeFacts& facts, uint32_t slot, ColumnRange columns) {
  const uint64_t longest = PieceBytes(facts.geometry().raid_disks() + 2);
  MendOutcome outcome{.recovered = true};
  for (uint64_t begin = columns.begin; begin < columns.end; begin += longest) {
    const ColumnRange piece{begin, std::min(begin + longest, columns.end)};
    std::byte* bytes = RecoverPiece(facts, slot, piece);
    if (bytes == nullptr) {
      outcome.recovered = false;
      return outcome;
    }
    if (facts.parity_trusted() && outcome.write_error == 0) {
      outcome.write_error = WriteAndReadAgain(facts, slot, piece, bytes);
    }
  }
  return outcome;
}

}  // namespace mdvol
