// Recovery of one window: what belongs into a slot is had and written to the device that is to hold
// it. It is read from the slot's own member where that can be read (replacing a member that still
// works), else reconstructed from the rest of the stripe (rebuilding). Nothing is read twice, and
// nothing that is not needed: for one lost block the other parity is left alone.
//
// What is written is what a read would return. So where parity is in doubt (I12) it is believed, as
// md does and as reads do; where it is owed (I13), only if P and Q agree. What cannot be told is a
// hole: nothing is written there. A target's own bad blocks are tried like all others: what can be
// written is named in the result, what cannot stays on its list.

#ifndef MDVOL_CORE_STRIPE_SYNC_RECOVER_H_
#define MDVOL_CORE_STRIPE_SYNC_RECOVER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/stripe/sync_window.h"

namespace mdvol {

class SyncRecoverer {
 public:
  // Targets that are in result->target_errors already are left alone.
  SyncRecoverer(std::span<SyncStripe> stripes, ColumnRange columns, std::span<std::byte> memory,
                std::span<const RecoverTarget> targets, RecoverResult* result,
                const ResyncRequest* requests = nullptr)
      : stripes_(stripes),
        targets_(targets),
        result_(result),
        window_(stripes, columns, memory),
        needs_(stripes.size() * window_.raid_disks(), false) {
    window_.set_requests(requests);
  }

  void Run();

 private:
  struct Filled {
    size_t target;
    size_t index;  // of the stripe
    ColumnRange columns;
  };
  using Blocks = absl::InlinedVector<std::byte*, 16>;

  bool HasFailed(size_t target) const;
  bool Wants(size_t target, size_t index, ColumnRange columns) const;
  void PlanStripe(size_t index);
  void NeedAll(size_t index);
  void ReadNeeded();
  void Fill(size_t index, ColumnRange piece);
  bool Reconstruct(size_t index, ColumnRange piece, std::span<const uint32_t> slots);
  void NoteReadErrors(size_t index, ColumnRange piece);
  void NoteFilled(size_t target, size_t index, ColumnRange piece);
  void NoteHole(uint32_t slot, size_t index, ColumnRange piece);
  void SplitAtBadBlocks();
  void Write();

  const std::span<SyncStripe> stripes_;
  const std::span<const RecoverTarget> targets_;
  RecoverResult* const result_;
  SyncWindow window_;
  std::vector<bool> needs_;  // by stripe and slot: is to be read
  std::vector<Filled> filled_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_SYNC_RECOVER_H_
