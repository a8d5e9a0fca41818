// Settling: after a full file system has kept some of a stripe's new bytes out, P and Q are
// rewritten for what the members hold then. Parity that has its space already can be rewritten
// where a file system is full; and until it is right, the next failure of a member would make two.

#ifndef MDVOL_CORE_STRIPE_SETTLE_H_
#define MDVOL_CORE_STRIPE_SETTLE_H_

#include <span>

#include "core/stripe/stripe_facts.h"
#include "core/stripe/stripe_locks.h"
#include "core/stripe/write_plan.h"

namespace mdvol {

// Reads the data blocks of these columns again and writes P and Q of them. A data block that has no
// readable home is taken from `extents`, if they cover it; where P or Q cannot be written, from
// what that parity says: what it holds is open after a failed write, as long as all parity agrees.
// No extents at all stand for zeroes. The caller leads the stripe and has marked stale blocks in
// `facts`.
//
// False: parity is owed still. Members that refuse their parity for another reason than being full
// are added to *failed. Works in the thread's Scratch: what the caller holds there is gone.
bool SettleParity(const StripeFacts& facts, std::span<const NewExtent> extents, ColumnRange columns,
                  MemberErrors* failed);

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_SETTLE_H_
