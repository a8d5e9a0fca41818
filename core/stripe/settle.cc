// See settle.h. Works piece by piece in the thread's scratch.

#include "core/stripe/settle.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "core/base/check.h"
#include "core/device/io_batch.h"
#include "core/parity/parity.h"
#include "core/stripe/io_errors.h"
#include "core/stripe/scratch.h"

namespace mdvol {
namespace {

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

class Piece {
 public:
  Piece(const StripeFacts& facts, std::span<const NewExtent> extents, ColumnRange columns)
      : facts_(facts), extents_(extents), columns_(columns) {
    Scratch::OfThisThread().Reset();
  }

  bool Settle(MemberErrors* failed) {
    if (!GatherData()) {
      return false;
    }
    absl::InlinedVector<uint32_t, 2> present;
    for (const uint32_t slot : {facts_.roles().p_slot(), facts_.roles().q_slot()}) {
      if (facts_.Access(slot, columns_) != SlotAccess::kAbsent) {
        present.push_back(slot);
      }
    }
    const absl::InlinedVector<uint32_t, 2> full = WriteParity(present, failed);
    // Homeless blocks are what parity says they are. Where there is no more parity than that, it
    // cannot be wrong, whatever it is.
    if (full.empty() || homeless_.size() >= present.size()) {
      return true;
    }
    return homeless_.size() == 1 && full.size() == 1 && FollowParity(full[0]) &&
           WriteParity(present[0] == full[0] ? present[1] : present[0], failed);
  }

 private:
  std::byte* Take() { return Scratch::OfThisThread().Take(columns_.size()); }

  void AddRead(IoBatch& batch, uint32_t slot, std::byte* into) const {
    batch.AddRead(facts_.Device(slot), facts_.MemberOffset(slot, columns_.begin), into,
                  columns_.size());
  }

  bool GatherData() {
    IoBatch batch(IoBatch::Reads::kForOthers);
    for (uint32_t k = 0; k < facts_.geometry().data_disks(); ++k) {
      const uint32_t slot = facts_.roles().DataSlot(k);
      const std::byte* bytes = nullptr;
      if (facts_.Readable(slot, columns_)) {
        std::byte* const into = Take();
        AddRead(batch, slot, into);
        bytes = into;
      } else {
        if (!extents_.empty() && CoverOf(extents_, k, columns_) != Cover::kWhole) {
          return false;
        }
        homeless_.push_back(k);
        bytes = extents_.empty() ? nullptr : Assemble(extents_, k, columns_);
      }
      data_.push_back({facts_.BlockIdOf(slot), bytes});
    }
    return batch.empty() || batch.Run();
  }

  // The slots whose file systems are full.
  absl::InlinedVector<uint32_t, 2> WriteParity(std::span<const uint32_t> slots,
                                               MemberErrors* failed) {
    std::byte* const p = p_ != nullptr ? p_ : p_ = Take();
    std::byte* const q = q_ != nullptr ? q_ : q_ = Take();
    GenerateParity(data_, p, q, columns_.size());
    IoBatch batch(IoBatch::Reads::kForOthers);
    for (const uint32_t slot : slots) {
      batch.AddWrite(facts_.Device(slot), facts_.MemberOffset(slot, columns_.begin),
                     slot == facts_.roles().p_slot() ? p : q, columns_.size());
    }
    absl::InlinedVector<uint32_t, 2> full;
    if (!batch.empty() && !batch.Run()) {
      for (size_t i = 0; i < slots.size(); ++i) {
        if (IsFull(batch.error(i))) {
          full.push_back(slots[i]);
        } else if (batch.error(i) != 0) {
          failed->push_back({.slot = slots[i], .error = batch.error(i)});
        }
      }
    }
    return full;
  }

  bool WriteParity(uint32_t slot, MemberErrors* failed) {
    return WriteParity(std::span(&slot, 1), failed).empty();
  }

  // Takes the homeless block from the parity that could not be written.
  bool FollowParity(uint32_t slot) {
    std::byte* const stored = slot == facts_.roles().p_slot() ? p_ : q_;
    IoBatch batch(IoBatch::Reads::kForOthers);
    AddRead(batch, slot, stored);
    if (!batch.Run()) {
      return false;
    }
    absl::InlinedVector<ConstBlock, 16> survivors;
    for (uint32_t k = 0; k < data_.size(); ++k) {
      if (k != homeless_[0]) {
        survivors.push_back(data_[k]);
      }
    }
    survivors.push_back({facts_.BlockIdOf(slot), stored});
    std::byte* const bytes = Take();
    const MutableBlock lost[] = {{data_[homeless_[0]].id, bytes}};
    MDVOL_CHECK(Recover(survivors, lost, columns_.size()));
    data_[homeless_[0]].bytes = bytes;
    return true;
  }

  const StripeFacts& facts_;
  const std::span<const NewExtent> extents_;
  const ColumnRange columns_;
  absl::InlinedVector<ConstBlock, 16> data_;  // by data index
  absl::InlinedVector<uint32_t, 2> homeless_;
  std::byte* p_ = nullptr;
  std::byte* q_ = nullptr;
};

}  // namespace

bool SettleParity(const StripeFacts& facts, std::span<const NewExtent> extents, ColumnRange columns,
                  MemberErrors* failed) {
  const StripeRoles& roles = facts.roles();
  if (facts.Access(roles.p_slot(), columns) == SlotAccess::kAbsent &&
      facts.Access(roles.q_slot(), columns) == SlotAccess::kAbsent) {
    return true;  // there is no parity to be right or wrong
  }
  const uint64_t longest = PieceBytes(facts.geometry().raid_disks() + 3);
  bool is_settled = true;
  for (uint64_t begin = columns.begin; begin < columns.end; begin += longest) {
    const ColumnRange piece{begin, std::min(begin + longest, columns.end)};
    is_settled &= Piece(facts, extents, piece).Settle(failed);
  }
  return is_settled;
}

}  // namespace mdvol
