// Decoding: data blocks that cannot be read, from what can be. What to read is planned here, and
// what was read is turned into the lost blocks; the I/O between is the caller's. Reads, writes and
// mending share it. Pure.
//
// Columns that owe parity (UnsettledStripes) are decoded only where P and Q agree on the one lost
// block: P may belong to bytes that were never stored, and a guess is no answer (I6).

#ifndef MDVOL_CORE_STRIPE_DECODE_H_
#define MDVOL_CORE_STRIPE_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/container/inlined_vector.h"
#include "core/stripe/stripe_facts.h"

namespace mdvol {

struct DecodeSet {
  absl::InlinedVector<uint32_t, 16> read_slots;
  absl::InlinedVector<uint32_t, 2> lost_slots;  // data slots to recover
};

// What is to be read to have all data blocks in these columns: the readable data, and as many
// parities as data is lost; both where they have to agree. False when it cannot be done.
bool PlanDecode(const StripeFacts& facts, ColumnRange columns, DecodeSet* decode);

// Recovers the lost blocks of the set from those that were read; `blocks` are by slot,
// columns.size() bytes each. False when P and Q had to agree and do not: the blocks are worth
// nothing then.
bool Decode(const StripeFacts& facts, ColumnRange columns, const DecodeSet& decode,
            std::span<std::byte* const> blocks);

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_DECODE_H_
