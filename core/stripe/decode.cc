// See decode.h.

#include "core/stripe/decode.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/check.h"
#include "core/parity/parity.h"

namespace mdvol {
namespace {

// Whether Q is that of the data, all of which is in `blocks`. P was used already.
bool QAgrees(const StripeFacts& facts, std::span<std::byte* const> blocks, size_t length) {
  alignas(64) std::array<std::byte, 4096> wanted;
  const std::byte* const stored = blocks[facts.roles().q_slot()];
  absl::InlinedVector<ConstBlock, 16> data(facts.geometry().data_disks());
  for (size_t done = 0; done < length; done += wanted.size()) {
    const size_t part = std::min(wanted.size(), length - done);
    for (uint32_t k = 0; k < data.size(); ++k) {
      const uint32_t slot = facts.roles().DataSlot(k);
      data[k] = {facts.BlockIdOf(slot), blocks[slot] + done};
    }
    GenerateParity(data, nullptr, wanted.data(), part);
    if (std::memcmp(wanted.data(), stored + done, part) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool PlanDecode(const StripeFacts& facts, ColumnRange columns, DecodeSet* decode) {
  const StripeRoles& roles = facts.roles();
  for (uint32_t k = 0; k < facts.geometry().data_disks(); ++k) {
    const uint32_t slot = roles.DataSlot(k);
    if (facts.Readable(slot, columns)) {
      decode->read_slots.push_back(slot);
    } else {
      decode->lost_slots.push_back(slot);
    }
  }
  const size_t lost = decode->lost_slots.size();
  const bool must_agree = facts.OwesParity(columns) && lost > 0;
  if (must_agree && lost > 1) {
    return false;
  }
  const size_t wanted = must_agree ? 2 : lost;
  size_t parities = 0;
  for (const uint32_t slot : {roles.p_slot(), roles.q_slot()}) {
    if (parities < wanted && facts.Readable(slot, columns)) {
      decode->read_slots.push_back(slot);
      ++parities;
    }
  }
  return parities == wanted;
}

bool Decode(const StripeFacts& facts, ColumnRange columns, const DecodeSet& decode,
            std::span<std::byte* const> blocks) {
  if (decode.lost_slots.empty()) {
    return true;
  }
  absl::InlinedVector<ConstBlock, 16> survivors;
  for (const uint32_t slot : decode.read_slots) {
    survivors.push_back({facts.BlockIdOf(slot), blocks[slot]});
  }
  absl::InlinedVector<MutableBlock, 2> lost;
  for (const uint32_t slot : decode.lost_slots) {
    lost.push_back({facts.BlockIdOf(slot), blocks[slot]});
  }
  MDVOL_CHECK(Recover(survivors, lost, columns.size()));
  return !facts.OwesParity(columns) || QAgrees(facts, blocks, columns.size());
}

}  // namespace mdvol
