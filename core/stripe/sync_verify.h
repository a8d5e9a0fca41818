// Check, repair and resync of one window: what is there is compared with what P and Q of the data
// are, and what the stripe's action allows is rewritten, lane by lane. What agrees is left alone: a
// healthy array is not written to.
//
// A lane in which all members can be read is located: byte positions that point to one member name
// it, positions that point to different ones make it kSeveral. With one block missing the remaining
// parity can only tell that something is wrong; with two it tells nothing.

#ifndef MDVOL_CORE_STRIPE_SYNC_VERIFY_H_
#define MDVOL_CORE_STRIPE_SYNC_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/device/io_batch.h"
#include "core/parity/parity.h"
#include "core/stripe/sync_window.h"

namespace mdvol {

// How much memory a verifier needs besides the window's.
inline constexpr size_t kVerifyScratchBytes = 3 * kSyncPieceBytes;

class SyncVerifier {
 public:
  // The stripes say what is to be done with each. `scratch` has kVerifyScratchBytes. `requests`
  // may be null.
  SyncVerifier(std::span<SyncStripe> stripes, ColumnRange columns, std::span<std::byte> memory,
               std::span<std::byte> scratch, const ResyncRequest* requests = nullptr)
      : stripes_(stripes),
        window_(stripes, columns, memory),
        p_(scratch.data()),
        q_(scratch.data() + kSyncPieceBytes),
        spare_(scratch.data() + 2 * kSyncPieceBytes) {
    window_.set_requests(requests);
  }

  void Run();

 private:
  using DataBlocks = absl::InlinedVector<ConstBlock, 16>;
  using Slots = absl::InlinedVector<uint32_t, 4>;

  struct Write {
    SyncBlock block;
    size_t wrong_index;  // in the stripe's list; kNone: an unreadable block is rewritten
  };
  static constexpr size_t kNone = ~size_t{0};

  void Verify(size_t index, ColumnRange piece);
  DataBlocks Data(size_t index, ColumnRange piece);
  void CompareAll(size_t index, ColumnRange piece);
  void CompareWithout(size_t index, ColumnRange piece, uint32_t lost_slot);
  void Recompute(size_t index, ColumnRange piece);
  void RecomputeLane(size_t index, ColumnRange lane, const std::byte* p, const std::byte* q);
  WrongBlock LocateLane(size_t index, ColumnRange lane, const std::byte* p, const std::byte* q,
                        std::byte* delta_p);
  void NoteWrongLane(size_t index, ColumnRange lane, const std::byte* p, const std::byte* q);
  size_t NoteWrong(size_t index, const WrongBlock& wrong);
  void NoteUnreadable(size_t index, ColumnRange piece, const Slots& lost);
  void AddWrite(const SyncBlock& block, size_t wrong_index);
  void RunWrites();

  const std::span<SyncStripe> stripes_;
  SyncWindow window_;
  std::byte* const p_;
  std::byte* const q_;
  std::byte* const spare_;
  IoBatch batch_{IoBatch::Reads::kForOthers};
  std::vector<Write> writes_;
};

}  // namespace mdvol

#endif  // MDVOL_CORE_STRIPE_SYNC_VERIFY_H_
