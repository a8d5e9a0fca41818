// See sync_verify.h.

#include "core/stripe/sync_verify.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/check.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

bool RewritesParity(StripeSync action) {
  return action == StripeSync::kParity || action == StripeSync::kRecompute;
}

bool HasNoParity(const StripeFacts& facts, ColumnRange columns) {
  return facts.Access(facts.roles().p_slot(), columns) == SlotAccess::kAbsent &&
         facts.Access(facts.roles().q_slot(), columns) == SlotAccess::kAbsent;
}

}  // namespace

void SyncVerifier::Run() {
  std::vector<SyncBlock> blocks;
  blocks.reserve(window_.raid_disks() * stripes_.size());
  for (uint32_t slot = 0; slot < window_.raid_disks(); ++slot) {
    for (size_t i = 0; i < stripes_.size(); ++i) {
      blocks.push_back({i, slot, window_.columns()});
    }
  }
  window_.Read(blocks);
  for (size_t i = 0; i < stripes_.size(); ++i) {
    window_.ForEachPiece(i, [&](ColumnRange piece) { Verify(i, piece); });
  }
  RunWrites();
}

void SyncVerifier::Verify(size_t index, ColumnRange piece) {
  SyncStripe& stripe = stripes_[index];
  const StripeFacts& facts = stripe.facts;
  Slots lost;
  bool has_data = true;
  for (uint32_t slot = 0; slot < window_.raid_disks(); ++slot) {
    if (!facts.Readable(slot, piece)) {
      lost.push_back(slot);
      has_data &= facts.roles().RoleOf(slot).kind != ChunkKind::kData;
    }
  }
  if (lost.size() >= 2 && HasNoParity(facts, piece)) {
    return;  // there is no parity to be right or wrong
  }
  if (has_data && RewritesParity(stripe.action)) {
    Recompute(index, piece);
  } else if (stripe.action == StripeSync::kRecompute || lost.size() > 2) {
    stripe.is_skipped = true;
  } else if (lost.empty()) {
    CompareAll(index, piece);
  } else if (lost.size() == 1) {
    CompareWithout(index, piece, lost[0]);
  } else {
    NoteUnreadable(index, piece, lost);
  }
}

SyncVerifier::DataBlocks SyncVerifier::Data(size_t index, ColumnRange piece) {
  const StripeFacts& facts = stripes_[index].facts;
  DataBlocks data;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = facts.roles().DataSlot(k);
    data.push_back({facts.BlockIdOf(slot), window_.Bytes({index, slot, piece})});
  }
  return data;
}

void SyncVerifier::CompareAll(size_t index, ColumnRange piece) {
  const StripeRoles& roles = stripes_[index].facts.roles();
  GenerateParity(Data(index, piece), p_, q_, piece.size());
  const std::byte* const p = window_.Bytes({index, roles.p_slot(), piece});
  const std::byte* const q = window_.Bytes({index, roles.q_slot(), piece});
  if (std::memcmp(p, p_, piece.size()) == 0 && std::memcmp(q, q_, piece.size()) == 0) {
    return;
  }
  ForEachLane(piece, [&](ColumnRange lane) {
    const size_t at = lane.begin - piece.begin;
    if (std::memcmp(p + at, p_ + at, lane.size()) != 0 ||
        std::memcmp(q + at, q_ + at, lane.size()) != 0) {
      NoteWrongLane(index, lane, p_ + at, q_ + at);
    }
  });
}

// With one block missing: the parity that it does not take to have the data is compared.
void SyncVerifier::CompareWithout(size_t index, ColumnRange piece, uint32_t lost_slot) {
  const StripeFacts& facts = stripes_[index].facts;
  const uint32_t p_slot = facts.roles().p_slot();
  const uint32_t compared_slot =
      lost_slot == facts.roles().q_slot() ? p_slot : facts.roles().q_slot();
  DataBlocks data = Data(index, piece);
  if (facts.roles().RoleOf(lost_slot).kind == ChunkKind::kData) {
    const BlockId id = facts.BlockIdOf(lost_slot);
    const auto lost =
        std::find_if(data.begin(), data.end(), [&](const ConstBlock& b) { return b.id == id; });
    DataBlocks survivors(data.begin(), lost);
    survivors.insert(survivors.end(), lost + 1, data.end());
    survivors.push_back({facts.BlockIdOf(p_slot), window_.Bytes({index, p_slot, piece})});
    const MutableBlock recovered[] = {{id, spare_}};
    MDVOL_CHECK(Recover(survivors, recovered, piece.size()));
    lost->bytes = spare_;
  }
  const bool compares_p = compared_slot == p_slot;
  GenerateParity(data, compares_p ? p_ : nullptr, compares_p ? nullptr : q_, piece.size());
  const std::byte* const wanted = compares_p ? p_ : q_;
  const std::byte* const stored = window_.Bytes({index, compared_slot, piece});
  ForEachLane(piece, [&](ColumnRange lane) {
    const size_t at = lane.begin - piece.begin;
    if (std::memcmp(stored + at, wanted + at, lane.size()) != 0) {
      NoteWrong(index, {.stripe = facts.stripe(), .columns = lane});
    } else {
      NoteUnreadable(index, lane, {lost_slot});
    }
  });
}

void SyncVerifier::Recompute(size_t index, ColumnRange piece) {
  const StripeRoles& roles = stripes_[index].facts.roles();
  GenerateParity(Data(index, piece), p_, q_, piece.size());
  const auto is_right = [&](uint32_t slot, const std::byte* wanted) {
    return stripes_[index].facts.Readable(slot, piece) &&
           std::memcmp(window_.Bytes({index, slot, piece}), wanted, piece.size()) == 0;
  };
  if (is_right(roles.p_slot(), p_) && is_right(roles.q_slot(), q_)) {
    return;
  }
  ForEachLane(piece, [&](ColumnRange lane) {
    RecomputeLane(index, lane, p_ + (lane.begin - piece.begin), q_ + (lane.begin - piece.begin));
  });
}

void SyncVerifier::RecomputeLane(size_t index, ColumnRange lane, const std::byte* p,
                                 const std::byte* q) {
  const StripeFacts& facts = stripes_[index].facts;
  struct Parity {
    SyncBlock block;
    const std::byte* wanted;
    SlotAccess access;
    bool differs;
  };
  std::array<Parity, 2> parities{{{{index, facts.roles().p_slot(), lane}, p, {}, false},
                                  {{index, facts.roles().q_slot(), lane}, q, {}, false}}};
  bool all_readable = true;
  for (Parity& parity : parities) {
    parity.access = facts.Access(parity.block.slot, lane);
    all_readable &= parity.access == SlotAccess::kReadable;
    parity.differs = parity.access == SlotAccess::kReadable &&
                     std::memcmp(window_.Bytes(parity.block), parity.wanted, lane.size()) != 0;
  }
  size_t wrong_index = kNone;
  if (parities[0].differs || parities[1].differs) {
    std::array<std::byte, kLaneBytes> delta_p;
    WrongBlock wrong{.stripe = facts.stripe(), .columns = lane};
    if (all_readable && stripes_[index].action != StripeSync::kRecompute) {
      wrong = LocateLane(index, lane, p, q, delta_p.data());
    }
    wrong.repaired = true;
    wrong_index = NoteWrong(index, wrong);
  }
  for (const Parity& parity : parities) {
    const bool is_unreadable = parity.access == SlotAccess::kUnreadable;
    if (parity.differs || is_unreadable) {
      std::memcpy(window_.Bytes(parity.block), parity.wanted, lane.size());
      AddWrite(parity.block, is_unreadable ? kNone : wrong_index);
    }
  }
}

// Which member explains the lane. *delta_p becomes P's difference.
WrongBlock SyncVerifier::LocateLane(size_t index, ColumnRange lane, const std::byte* p,
                                    const std::byte* q, std::byte* delta_p) {
  const StripeFacts& facts = stripes_[index].facts;
  const StripeRoles& roles = facts.roles();
  std::array<std::byte, kLaneBytes> delta_q;
  XorBlocks(window_.Bytes({index, roles.p_slot(), lane}), p, delta_p, lane.size());
  XorBlocks(window_.Bytes({index, roles.q_slot(), lane}), q, delta_q.data(), lane.size());
  absl::InlinedVector<uint8_t, 32> exponents;
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    exponents.push_back(static_cast<uint8_t>(roles.Exponent(roles.DataSlot(k))));
  }
  WrongBlock wrong{.stripe = facts.stripe(), .columns = lane};
  const Located located = LocateBlock(delta_p, delta_q.data(), lane.size(), exponents);
  switch (located.verdict) {
    case LocateVerdict::kGood:
      MDVOL_CHECK(false);
    case LocateVerdict::kP:
      wrong.kind = WrongKind::kP;
      wrong.slot = roles.p_slot();
      break;
    case LocateVerdict::kQ:
      wrong.kind = WrongKind::kQ;
      wrong.slot = roles.q_slot();
      break;
    case LocateVerdict::kData:
      wrong.kind = WrongKind::kData;
      wrong.data_index = static_cast<uint32_t>(
          std::find(exponents.begin(), exponents.end(), located.exponent) - exponents.begin());
      wrong.slot = roles.DataSlot(wrong.data_index);
      break;
    case LocateVerdict::kSeveral:
      break;
  }
  return wrong;
}

void SyncVerifier::NoteWrongLane(size_t index, ColumnRange lane, const std::byte* p,
                                 const std::byte* q) {
  std::array<std::byte, kLaneBytes> delta_p;
  WrongBlock wrong = LocateLane(index, lane, p, q, delta_p.data());
  wrong.repaired =
      stripes_[index].action == StripeSync::kLocate && wrong.kind != WrongKind::kSeveral;
  const size_t wrong_index = NoteWrong(index, wrong);
  if (!wrong.repaired) {
    return;
  }
  const SyncBlock block{index, wrong.slot, lane};
  std::byte* const bytes = window_.Bytes(block);
  if (wrong.kind == WrongKind::kData) {
    XorBlocks(bytes, delta_p.data(), bytes, lane.size());
  } else {
    std::memcpy(bytes, wrong.kind == WrongKind::kP ? p : q, lane.size());
  }
  AddWrite(block, wrong_index);
}

// A lane counts once, into however many parts it is cut.
size_t SyncVerifier::NoteWrong(size_t index, const WrongBlock& wrong) {
  SyncStripe& stripe = stripes_[index];
  const bool is_counted = !stripe.wrong.empty() && stripe.wrong.back().columns.begin / kLaneBytes ==
                                                       wrong.columns.begin / kLaneBytes;
  stripe.mismatched_lanes += is_counted ? 0u : 1u;
  stripe.wrong.push_back(wrong);
  return stripe.wrong.size() - 1;
}

// What could not be read, and can be told from the rest, is to be mended; a repair tries blocks
// that are known to be bad too, and a check tells of those that it would write: where parity is in
// doubt it recomputes that, and needs the data.
void SyncVerifier::NoteUnreadable(size_t index, ColumnRange piece, const Slots& lost) {
  SyncStripe& stripe = stripes_[index];
  const StripeFacts& facts = stripe.facts;
  const bool has_data = std::all_of(lost.begin(), lost.end(), [&](uint32_t slot) {
    return facts.roles().RoleOf(slot).kind != ChunkKind::kData;
  });
  for (const uint32_t slot : lost) {
    const bool is_listed =
        facts.Access(slot, piece) == SlotAccess::kUnreadable && facts.HasBadBlock(slot, piece);
    if (facts.HasReadError(slot, piece) || (is_listed && stripe.action != StripeSync::kCheck)) {
      stripe.to_mend.push_back({slot, piece});
    } else if (is_listed && facts.members().writable) {
      stripe.has_listed_bad |= facts.parity_trusted() || has_data;
    }
  }
}

void SyncVerifier::AddWrite(const SyncBlock& block, size_t wrong_index) {
  const StripeFacts& facts = stripes_[block.index].facts;
  batch_.AddWrite(facts.Device(block.slot), facts.MemberOffset(block.slot, block.columns.begin),
                  window_.Bytes(block), block.columns.size());
  writes_.push_back({block, wrong_index});
}

void SyncVerifier::RunWrites() {
  if (batch_.empty()) {
    return;
  }
  batch_.Run();
  for (size_t i = 0; i < writes_.size(); ++i) {
    const SyncBlock& block = writes_[i].block;
    SyncStripe& stripe = stripes_[block.index];
    const int error = batch_.error(i);
    if (error == 0) {
      stripe.facts.NoteRewritten(block.slot, block.columns, &stripe.rewritten_bad);
      if (stripe.facts.HasReadError(block.slot, block.columns)) {
        stripe.mended_slots.push_back(block.slot);
      }
      continue;
    }
    if (writes_[i].wrong_index != kNone) {
      stripe.wrong[writes_[i].wrong_index].repaired = false;
    }
    if (IsFull(error)) {
      stripe.full = error;
    } else if (stripe.facts.IsListedBad(block.slot, block.columns)) {
      stripe.still_bad = true;
    } else {
      stripe.member_errors.push_back({.slot = block.slot, .error = error});
    }
  }
}

}  // namespace mdvol
