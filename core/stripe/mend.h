// Mending: a block that could not be read is recovered from the rest of its stripe, written back,
// and read again, as md does.

#ifndef MDVOL_CORE_STRIPE_MEND_H_
#define MDVOL_CORE_STRIPE_MEND_H_

#include <cstdint>

#include "core/stripe/stripe_facts.h"

namespace mdvol {

struct MendOutcome {
  bool recovered = false;  // the rest of the stripe sufficed
  int write_error = 0;     // writing back, or reading again, failed: the member should be failed,
                           // unless its file system is full (I13)
};

// Recovers columns of the block in `slot` (data, P or Q) and rewrites them on its member. The
// caller leads the stripe, and has marked the block unreadable in `facts`. More read errors met on
// the way are marked in `facts` too. Nothing is written when the block cannot be recovered or the
// parity is not trusted. Works in the thread's Scratch: what the caller holds there is gone.
MendOutcome MendBlock(StripeFacts& facts, uint32_t slot, ColumnRange columns);

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_MEND_H_
