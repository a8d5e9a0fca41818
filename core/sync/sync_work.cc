// See sync_work.h.

#include "core/sync/sync_work.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/base/status.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

// All stripes.
class WholeWork : public SyncWork {
 public:
  explicit WholeWork(Array& array) : array_(array) {}

  std::optional<StripeRange> Next(uint64_t from_stripe) override {
    const uint64_t stripes = array_.geometry().stripe_count();
    return from_stripe >= stripes ? std::nullopt
                                  : std::optional(StripeRange{from_stripe, stripes - from_stripe});
  }

 protected:
  Array& array_;
};

class CheckWork final : public WholeWork {
 public:
  using WholeWork::WholeWork;

  absl::Status Run(StripeRange window, SyncFindings* findings) override {
    return array_.CheckStripes(window, findings);
  }
};

class RepairWork final : public WholeWork {
 public:
  RepairWork(Array& array, RepairMode mode) : WholeWork(array), mode_(mode) {}

  absl::Status Run(StripeRange window, SyncFindings* findings) override {
    return array_.RepairStripes(window, mode_, findings);
  }

 private:
  const RepairMode mode_;
};

// Doubt ends for a run of stripes as a whole (one bit of the map), and windows are smaller: what
// has been recomputed is kept as stretches, joined where they touch, until a run is complete. Not
// joined are those between which something came into doubt: their run is left to maintenance.
class ResyncWork final : public SyncWork {
 public:
  explicit ResyncWork(Array& array) : array_(array) {}

  std::optional<StripeRange> Next(uint64_t from_stripe) override {
    return array_.NextDoubt(from_stripe);
  }

  absl::Status Run(StripeRange window, SyncFindings* findings) override {
    const uint64_t begun = array_.DoubtSequence();
    uint64_t skipped = window.count;
    const absl::Status status = array_.RecomputeParity(window, &skipped);
    // A full file system is no reason to give up: maintenance tries again (I13).
    if (!status.ok() && !IsFull(ErrnoOf(status))) {
      return status;
    }
    findings->skipped_stripes += skipped;
    if (skipped == 0) {
      NoteRecomputed(window, begun);
    }
    return absl::OkStatus();
  }

  absl::Status Checkpoint(uint64_t done_stripes) override {
    return array_.CheckpointResync(done_stripes);
  }

 private:
  struct Stretch {
    uint64_t end;
    uint64_t begun;  // Array::DoubtSequence then
  };

  void NoteRecomputed(StripeRange window, uint64_t begun) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    uint64_t begin = window.first;
    uint64_t end = window.first + window.count;
    auto next = stretches_.lower_bound(begin);
    if (next != stretches_.end() && next->first == end && next->second.begun == begun) {
      end = next->second.end;
      next = stretches_.erase(next);
    }
    if (next != stretches_.begin()) {
      const auto previous = std::prev(next);
      if (previous->second.end == begin && previous->second.begun == begun) {
        begin = previous->first;
        stretches_.erase(previous);
      }
    }
    array_.EndDoubt({begin, end - begin}, begun);
    // What is in doubt no longer need not be looked at again.
    const std::optional<StripeRange> doubt = array_.NextDoubt(begin);
    if (doubt.has_value() && doubt->first < end) {
      stretches_[std::max(begin, doubt->first)] = {end, begun};
    }
  }

  Array& array_;
  absl::Mutex mutex_;
  std::map<uint64_t, Stretch> stretches_ ABSL_GUARDED_BY(mutex_);  // by their beginning, apart
};

class RecoverWork final : public SyncWork {
 public:
  explicit RecoverWork(Array& array) : array_(array) {}

  std::optional<StripeRange> Next(uint64_t from_stripe) override {
    return array_.NextToRecover(from_stripe);
  }

  absl::Status Run(StripeRange window, SyncFindings* findings) override {
    return array_.RecoverStripes(window, findings);
  }

  absl::Status Checkpoint(uint64_t /*done_stripes*/) override {
    return array_.CheckpointRecovery();
  }

  absl::Status Finish() override { return array_.EndRecovery(); }

 private:
  Array& array_;
};

}  // namespace

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
