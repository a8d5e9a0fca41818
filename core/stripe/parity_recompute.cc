// StripeEngine::RecomputeParity: P and Q rewritten from data, window by window.
//
// A window is a run of neighbouring stripes, so that each member is read in one large request; it
// is led as a whole, or as much of it as is free at once. Chunks that are larger than a window's
// share are done in columns. What differs is rewritten lane by lane, what agrees is left alone, as
// md does. What is not on a member any more, or beyond its checkpoint, or bad, is not read; a
// request that fails is tried again lane by lane, so that one bad lane costs only itself.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/parity/parity.h"
#include "core/stripe/columns.h"
#include "core/stripe/io_errors.h"
#include "core/stripe/stripe_engine.h"

namespace mdvol {
namespace {

constexpr uint64_t kWindowBytes = 16 * kMiB;  // of memory, over all members
constexpr uint64_t kPieceBytes = 64 * kKiB;   // generated at a time: what the caches hold

// One stripe of a window, and what came of it.
struct RecomputedStripe {
  RecomputedStripe(const ArrayGeometry& geometry, const MemberView& members, uint64_t stripe)
      : facts(geometry, members, stripe) {}

  StripeFacts facts;
  bool skipped = false;  // somewhere data was missing
  int full = 0;          // ENOSPC or EDQUOT
  MemberErrors member_errors;
  uint64_t rewritten_bytes = 0;
  absl::InlinedVector<uint32_t, 1> mended_slots;
};

// The same columns of neighbouring stripes.
class Window {
 public:
  // `memory` has room for the columns of all stripes on all members.
  Window(std::span<RecomputedStripe> stripes, ColumnRange columns, std::span<std::byte> memory)
      : stripes_(stripes), columns_(columns), memory_(memory), parity_(2 * kPieceBytes) {}

  void Run() {
    ReadAll();
    for (size_t i = 0; i < stripes_.size(); ++i) {
      Recompute(i);
    }
    WriteDifferences();
  }

 private:
  // What an extent of a batch is about.
  struct Block {
    size_t stripe_index;
    uint32_t slot;
    ColumnRange columns;
  };

  const ArrayGeometry& geometry() const { return stripes_[0].facts.geometry(); }

  std::byte* Bytes(const Block& block) {
    const size_t row = block.slot * stripes_.size() + block.stripe_index;
    return memory_.data() + row * columns_.size() + (block.columns.begin - columns_.begin);
  }

  void AddRead(const Block& block) {
    const StripeFacts& facts = stripes_[block.stripe_index].facts;
    batch_.AddRead(facts.Device(block.slot), facts.MemberOffset(block.slot, block.columns.begin),
                   Bytes(block), block.columns.size());
    blocks_.push_back(block);
  }

  // Calls visit(columns) for runs of columns in which every slot's access is the same.
  template <typename Visit>
  static void ForEachUniformLane(const StripeFacts& facts, ColumnRange columns, Visit visit) {
    struct All {
      ColumnRange columns;
    };
    for (const ColumnRange& segment : CutColumns(facts, std::array{All{columns}})) {
      ForEachLane(segment, visit);
    }
  }

  void AddReadableLanes(const Block& block) {
    const StripeFacts& facts = stripes_[block.stripe_index].facts;
    ForEachUniformLane(facts, block.columns, [&](ColumnRange lane) {
      if (facts.Readable(block.slot, lane)) {
        AddRead({block.stripe_index, block.slot, lane});
      }
    });
  }

  // Member by member, so that the batch is sorted as it is made.
  void ReadAll() {
    for (uint32_t slot = 0; slot < geometry().raid_disks(); ++slot) {
      for (size_t i = 0; i < stripes_.size(); ++i) {
        const Block block{i, slot, columns_};
        if (stripes_[i].facts.Readable(slot, columns_)) {
          AddRead(block);
        } else {
          AddReadableLanes(block);
        }
      }
    }
    if (RunReads()) {
      return;
    }
    const std::vector<Block> failed = std::move(failed_);
    for (const Block& block : failed) {
      AddReadableLanes(block);
    }
    RunReads();
    for (const Block& block : failed_) {
      stripes_[block.stripe_index].facts.MarkUnreadable(block.slot, block.columns);
    }
  }

  // False when there are blocks in failed_.
  bool RunReads() {
    failed_.clear();
    if (!batch_.empty() && !batch_.Run()) {
      for (size_t i = 0; i < blocks_.size(); ++i) {
        if (batch_.error(i) != 0) {
          failed_.push_back(blocks_[i]);
        }
      }
    }
    batch_.Clear();
    blocks_.clear();
    return failed_.empty();
  }

  bool DataReadable(const StripeFacts& facts, ColumnRange columns) const {
    for (uint32_t k = 0; k < geometry().data_disks(); ++k) {
      if (!facts.Readable(facts.roles().DataSlot(k), columns)) {
        return false;
      }
    }
    return true;
  }

  void Recompute(size_t index) {
    RecomputedStripe& stripe = stripes_[index];
    const StripeRoles& roles = stripe.facts.roles();
    if (stripe.facts.Access(roles.p_slot(), columns_) == SlotAccess::kAbsent &&
        stripe.facts.Access(roles.q_slot(), columns_) == SlotAccess::kAbsent) {
      return;  // there is no parity to be right or wrong
    }
    const auto recompute = [&](ColumnRange piece) {
      if (DataReadable(stripe.facts, piece)) {
        RecomputePiece(index, piece);
      } else {
        stripe.skipped = true;
      }
    };
    if (!IsAllReadable(stripe.facts)) {
      ForEachUniformLane(stripe.facts, columns_, recompute);
      return;
    }
    for (uint64_t begin = columns_.begin; begin < columns_.end; begin += kPieceBytes) {
      recompute({begin, std::min(begin + kPieceBytes, columns_.end)});
    }
  }

  bool IsAllReadable(const StripeFacts& facts) const {
    for (uint32_t slot = 0; slot < geometry().raid_disks(); ++slot) {
      if (!facts.Readable(slot, columns_)) {
        return false;
      }
    }
    return true;
  }

  void RecomputePiece(size_t index, ColumnRange piece) {
    const StripeFacts& facts = stripes_[index].facts;
    absl::InlinedVector<ConstBlock, 16> data;
    for (uint32_t k = 0; k < geometry().data_disks(); ++k) {
      const uint32_t slot = facts.roles().DataSlot(k);
      data.push_back({facts.BlockIdOf(slot), Bytes({index, slot, piece})});
    }
    std::byte* p = parity_.data();
    std::byte* q = parity_.data() + kPieceBytes;
    GenerateParity(data, p, q, piece.size());
    ForEachLane(piece, [&](ColumnRange lane) {
      Compare({index, facts.roles().p_slot(), lane}, p + (lane.begin - piece.begin));
      Compare({index, facts.roles().q_slot(), lane}, q + (lane.begin - piece.begin));
    });
  }

  void Compare(const Block& block, const std::byte* wanted) {
    RecomputedStripe& stripe = stripes_[block.stripe_index];
    const SlotAccess access = stripe.facts.Access(block.slot, block.columns);
    std::byte* stored = Bytes(block);
    if (access == SlotAccess::kAbsent || (access == SlotAccess::kReadable &&
                                          std::memcmp(stored, wanted, block.columns.size()) == 0)) {
      return;
    }
    std::memcpy(stored, wanted, block.columns.size());
    batch_.AddWrite(stripe.facts.Device(block.slot),
                    stripe.facts.MemberOffset(block.slot, block.columns.begin), stored,
                    block.columns.size());
    blocks_.push_back(block);
  }

  void WriteDifferences() {
    if (batch_.empty()) {
      return;
    }
    batch_.Run();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      RecomputedStripe& stripe = stripes_[block.stripe_index];
      const int error = batch_.error(i);
      if (IsFull(error)) {
        stripe.full = error;
      } else if (error != 0) {
        stripe.member_errors.push_back({.slot = block.slot, .error = error});
      } else {
        stripe.rewritten_bytes += block.columns.size();
        if (stripe.facts.HasReadError(block.slot, block.columns)) {
          stripe.mended_slots.push_back(block.slot);
        }
      }
    }
  }

  const std::span<RecomputedStripe> stripes_;
  const ColumnRange columns_;
  const std::span<std::byte> memory_;
  AlignedBuffer parity_;
  IoBatch batch_;
  std::vector<Block> blocks_;  // of batch_
  std::vector<Block> failed_;
};

// How many bytes of each member a window may hold.
uint64_t WindowBytesPerMember(const ArrayGeometry& geometry) {
  return std::max(kLaneBytes, RoundDown(kWindowBytes / geometry.raid_disks(), kLaneBytes));
}

}  // namespace

EngineResult StripeEngine::RecomputeParity(const MemberView& members, uint64_t first_stripe,
                                           uint64_t count) {
  EngineResult result;
  const uint64_t per_member = WindowBytesPerMember(geometry_);
  const uint64_t stripes_per_window = std::max<uint64_t>(1, per_member >> geometry_.chunk_shift());
  AlignedBuffer memory(std::min(per_member, count << geometry_.chunk_shift()) *
                       geometry_.raid_disks());
  const uint64_t end = first_stripe + count;
  while (first_stripe < end) {
    locks_.Lead(first_stripe);
    uint64_t led = 1;
    while (led < stripes_per_window && first_stripe + led < end &&
           locks_.TryLead(first_stripe + led)) {
      ++led;
    }
    RecomputeLed(members, first_stripe, led, memory.span(), &result);
    for (uint64_t i = 0; i < led; ++i) {
      locks_.Finish(first_stripe + i, {}, nullptr);
    }
    first_stripe += led;
  }
  return result;
}

void StripeEngine::RecomputeLed(const MemberView& members, uint64_t first_stripe, uint64_t count,
                                std::span<std::byte> memory, EngineResult* result) {
  std::vector<RecomputedStripe> stripes;
  stripes.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    RecomputedStripe& stripe = stripes.emplace_back(geometry_, members, first_stripe + i);
    unsettled_.ApplyTo(stripe.facts, &stripe.member_errors);
  }
  const uint64_t chunk_bytes = geometry_.chunk_bytes();
  const uint64_t columns = std::min(chunk_bytes, WindowBytesPerMember(geometry_));
  for (uint64_t begin = 0; begin < chunk_bytes; begin += columns) {
    Window(stripes, {begin, std::min(begin + columns, chunk_bytes)}, memory).Run();
  }
  for (const RecomputedStripe& stripe : stripes) {
    result->skipped_stripes += stripe.skipped ? 1 : 0;
    result->rewritten_bytes += stripe.rewritten_bytes;
    result->mended_slots.insert(result->mended_slots.end(), stripe.mended_slots.begin(),
                                stripe.mended_slots.end());
    for (const MemberError& error : stripe.member_errors) {
      result->member_errors.push_back(error);
      unsettled_.NoteStale(stripe.facts, error);
    }
    if (stripe.full != 0) {
      result->error = stripe.full;
      result->owed_stripes.push_back(stripe.facts.stripe());
      unsettled_.NoteOwedParity(stripe.facts.stripe(), {0, chunk_bytes});
    } else if (!stripe.skipped) {
      unsettled_.ParityRewritten(stripe.facts.stripe(), {0, chunk_bytes});
    }
  }
}

}  // namespace mdvol
