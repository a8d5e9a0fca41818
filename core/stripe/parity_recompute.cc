// StripeEngine::RecomputeParity: P and Q rewritten from data, window by window.
//
// A window is a run of neighbouring stripes, so that each member is read in one large request; it
// is led as a whole, or as much of it as is free at once. What differs is rewritten in pieces, what
// agrees is left alone, as md does.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/stripe/stripe_engine.h"

namespace mdvol {
namespace {

constexpr uint64_t kWindowBytes = 16 * kMiB;  // of memory, over all members
constexpr uint64_t kComparePiece = 64 * kKiB;

// A window's bytes of every member: columns of one stripe, or whole chunks of several.
struct Window {
  uint64_t first_stripe;
  uint64_t stripes;
  ColumnRange columns;  // of each stripe
  uint64_t bytes_per_member() const { return stripes * columns.size(); }
};

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT; }

class WindowRecompute {
 public:
  WindowRecompute(const ArrayGeometry& geometry, const MemberView& members, const Window& window,
                  EngineResult* result)
      : geometry_(geometry),
        members_(members),
        window_(window),
        result_(result),
        bytes_(window.bytes_per_member() * geometry.raid_disks()),
        readable_(geometry.raid_disks(), true),
        parity_(2 * kComparePiece) {}

  void Run() {
    ReadAll();
    for (uint64_t i = 0; i < window_.stripes; ++i) {
      Recompute(StripeFacts(geometry_, members_, window_.first_stripe + i), i);
    }
    WriteDifferences();
  }

 private:
  std::byte* Bytes(uint32_t slot, uint64_t stripe_index, uint64_t column) {
    return bytes_.data() + slot * window_.bytes_per_member() +
           stripe_index * window_.columns.size() + (column - window_.columns.begin);
  }

  void ReadAll() {
    IoBatch batch;
    absl::InlinedVector<uint32_t, 16> slots;
    const StripeFacts first(geometry_, members_, window_.first_stripe);
    for (uint32_t slot = 0; slot < geometry_.raid_disks(); ++slot) {
      if (!members_.slots[slot].present()) {
        continue;
      }
      batch.AddRead(first.Device(slot), first.MemberOffset(slot, window_.columns.begin),
                    Bytes(slot, 0, window_.columns.begin), window_.bytes_per_member());
      slots.push_back(slot);
    }
    if (!batch.Run()) {
      for (size_t i = 0; i < slots.size(); ++i) {
        readable_[slots[i]] = batch.error(i) == 0;
      }
    }
  }

  bool Usable(const StripeFacts& facts, uint32_t slot) const {
    return readable_[slot] && facts.Readable(slot, window_.columns);
  }

  void Recompute(const StripeFacts& facts, uint64_t stripe_index) {
    const StripeRoles& roles = facts.roles();
    for (uint32_t k = 0; k < geometry_.data_disks(); ++k) {
      if (!Usable(facts, roles.DataSlot(k))) {
        ++result_->skipped_stripes;
        return;
      }
    }
    for (uint64_t begin = window_.columns.begin; begin < window_.columns.end;
         begin += kComparePiece) {
      const ColumnRange piece{begin, std::min(begin + kComparePiece, window_.columns.end)};
      absl::InlinedVector<ConstBlock, 16> data;
      for (uint32_t k = 0; k < geometry_.data_disks(); ++k) {
        const uint32_t slot = roles.DataSlot(k);
        data.push_back({facts.BlockIdOf(slot), Bytes(slot, stripe_index, begin)});
      }
      std::byte* p = parity_.data();
      std::byte* q = parity_.data() + kComparePiece;
      GenerateParity(data, p, q, piece.size());
      Compare(facts, roles.p_slot(), stripe_index, piece, p);
      Compare(facts, roles.q_slot(), stripe_index, piece, q);
    }
  }

  void Compare(const StripeFacts& facts, uint32_t slot, uint64_t stripe_index, ColumnRange piece,
               const std::byte* wanted) {
    if (facts.Access(slot, piece) == SlotAccess::kAbsent) {
      return;
    }
    std::byte* stored = Bytes(slot, stripe_index, piece.begin);
    if (Usable(facts, slot) && std::memcmp(stored, wanted, piece.size()) == 0) {
      return;
    }
    std::memcpy(stored, wanted, piece.size());
    writes_.AddWrite(facts.Device(slot), facts.MemberOffset(slot, piece.begin), stored,
                     piece.size());
    written_.push_back({facts.stripe(), slot});
    result_->rewritten_bytes += piece.size();
  }

  void WriteDifferences() {
    if (writes_.empty() || writes_.Run()) {
      return;
    }
    for (size_t i = 0; i < written_.size(); ++i) {
      const int error = writes_.error(i);
      if (IsFull(error)) {
        result_->error = error;
        result_->owed_stripes.push_back(written_[i].stripe);
      } else if (error != 0) {
        result_->member_errors.push_back({.slot = written_[i].slot, .error = error});
      }
    }
  }

  struct Written {
    uint64_t stripe;
    uint32_t slot;
  };

  const ArrayGeometry& geometry_;
  const MemberView& members_;
  const Window window_;
  EngineResult* result_;
  AlignedBuffer bytes_;
  std::vector<bool> readable_;
  AlignedBuffer parity_;
  IoBatch writes_;
  std::vector<Written> written_;
};

}  // namespace

EngineResult StripeEngine::RecomputeParity(const MemberView& members, uint64_t first_stripe,
                                           uint64_t count) {
  EngineResult result;
  const uint64_t per_member = kWindowBytes / geometry_.raid_disks();
  const uint64_t stripes_per_window = std::max<uint64_t>(1, per_member >> geometry_.chunk_shift());
  const uint64_t end = first_stripe + count;
  while (first_stripe < end) {
    locks_.Lead(first_stripe);
    uint64_t led = 1;
    while (led < stripes_per_window && first_stripe + led < end &&
           locks_.TryLead(first_stripe + led)) {
      ++led;
    }
    RecomputeRun(members, first_stripe, led, &result);
    for (uint64_t i = 0; i < led; ++i) {
      locks_.Finish(first_stripe + i, {}, nullptr);
    }
    first_stripe += led;
  }
  return result;
}

void StripeEngine::RecomputeRun(const MemberView& members, uint64_t first_stripe, uint64_t count,
                                EngineResult* result) {
  const uint64_t per_member =
      std::max<uint64_t>(kLaneBytes, RoundDown(kWindowBytes / geometry_.raid_disks(), kLaneBytes));
  const uint64_t columns = std::min(geometry_.chunk_bytes(), per_member);
  for (uint64_t begin = 0; begin < geometry_.chunk_bytes(); begin += columns) {
    const ColumnRange range{begin, std::min(begin + columns, geometry_.chunk_bytes())};
    WindowRecompute(geometry_, members, {first_stripe, count, range}, result).Run();
  }
}

}  // namespace mdvol
