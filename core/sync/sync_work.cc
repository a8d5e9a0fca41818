// See sync_work.h.

#include "core/sync/sync_work.h"

#include <algorithm>

#include "core/base/status.h"
#include "core/base/units.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

constexpr uint64_t kWindowBytes = kMiB;  // of each member

// All stripes, window by window.
class WindowWork : public SyncWork {
 public:
  explicit WindowWork(Array& array) : array_(array) {}

  std::optional<StripeRange> Next(uint64_t from_stripe) override {
    const ArrayGeometry& geometry = array_.geometry();
    if (from_stripe >= geometry.stripe_count()) {
      return std::nullopt;
    }
    return StripeRange{from_stripe,
                       std::min(StripesPerWindow(geometry), geometry.stripe_count() - from_stripe)};
  }

 protected:
  Array& array_;
};

class CheckWork final : public WindowWork {
 public:
  using WindowWork::WindowWork;

  absl::Status Run(StripeRange piece, const std::function<bool()>& /*is_interrupted*/,
                   SyncFindings* findings) override {
    return array_.CheckStripes(piece, findings);
  }
};

class RepairWork final : public WindowWork {
 public:
  RepairWork(Array& array, RepairMode mode) : WindowWork(array), mode_(mode) {}

  absl::Status Run(StripeRange piece, const std::function<bool()>& /*is_interrupted*/,
                   SyncFindings* findings) override {
    return array_.RepairStripes(piece, mode_, findings);
  }

 private:
  const RepairMode mode_;
};

// A piece is a run of stripes in doubt as a whole, because doubt ends for a run, not for a part of
// it.
class ResyncWork final : public SyncWork {
 public:
  explicit ResyncWork(Array& array) : array_(array) {}

  std::optional<StripeRange> Next(uint64_t from_stripe) override {
    return array_.NextDoubt(from_stripe);
  }

  absl::Status Run(StripeRange piece, const std::function<bool()>& is_interrupted,
                   SyncFindings* findings) override {
    const uint64_t begun = array_.DoubtSequence();
    const uint64_t step = StripesPerWindow(array_.geometry());
    const uint64_t end = piece.first + piece.count;
    uint64_t skipped_in_piece = 0;
    for (uint64_t first = piece.first; first < end; first += step) {
      if (is_interrupted()) {
        return absl::OkStatus();
      }
      const uint64_t count = std::min(step, end - first);
      uint64_t skipped = count;
      const absl::Status status = array_.RecomputeParity({first, count}, &skipped);
      // A full file system is no reason to give up: maintenance tries again (I13).
      if (!status.ok() && !IsFull(ErrnoOf(status))) {
        return status;
      }
      skipped_in_piece += skipped;
    }
    findings->skipped_stripes += skipped_in_piece;
    if (skipped_in_piece == 0) {
      array_.EndDoubt(piece, begun);
    }
    return absl::OkStatus();
  }

  absl::Status Checkpoint(uint64_t done_stripes) override {
    return array_.CheckpointResync(done_stripes);
  }

 private:
  Array& array_;
};

class RecoverWork final : public SyncWork {
 public:
  explicit RecoverWork(Array& array) : array_(array) {}

  std::optional<StripeRange> Next(uint64_t from_stripe) override {
    std::optional<StripeRange> range = array_.NextToRecover(from_stripe);
    if (range.has_value()) {
      range->count = std::min(range->count, StripesPerWindow(array_.geometry()));
    }
    return range;
  }

  absl::Status Run(StripeRange piece, const std::function<bool()>& /*is_interrupted*/,
                   SyncFindings* findings) override {
    return array_.RecoverStripes(piece, findings);
  }

  absl::Status Checkpoint(uint64_t /*done_stripes*/) override {
    return array_.CheckpointRecovery();
  }

  absl::Status Finish() override { return array_.EndRecovery(); }

 private:
  Array& array_;
};

}  // namespace

uint64_t StripesPerWindow(const ArrayGeometry& geometry) {
  return std::max<uint64_t>(1, kWindowBytes >> geometry.chunk_shift());
}

std::unique_ptr<SyncWork> NewCheckWork(Array& array) { return std::make_unique<CheckWork>(array); }

std::unique_ptr<SyncWork> NewRepairWork(Array& array, RepairMode mode) {
  return std::make_unique<RepairWork>(array, mode);
}

std::unique_ptr<SyncWork> NewResyncWork(Array& array) {
  return std::make_unique<ResyncWork>(array);
}

std::unique_ptr<SyncWork> NewRecoverWork(Array& array) {
  return std::make_unique<RecoverWork>(array);
}

}  // namespace mdvol
