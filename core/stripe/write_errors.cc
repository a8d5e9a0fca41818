// WriteExecutor: what becomes of writes that members refused. See write_executor.h.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/aligned_buffer.h"
#include "core/stripe/io_errors.h"
#include "core/stripe/settle.h"
#include "core/stripe/write_executor.h"

namespace mdvol {

// Blocks on members' lists that have been written over, with what is to stay there.
void WriteExecutor::NoteRewritten(StripeStep& step, ColumnRange columns,
                                  std::span<const IoRecord> written) {
  for (const IoRecord& record : written) {
    if (record.error == 0) {
      step.facts.NoteRewritten(record.slot, columns, &step.rewritten_bad);
    }
  }
}

// Where old bytes are put back, or parity is made to follow what could be stored, it is open what a
// block on a list holds in the end: the last write to it may have failed, or not have come to it.
// It stays on the list, also for those who wrote it before and have yet to say so.
void WriteExecutor::KeepListed(StripeStep& step, ColumnRange columns) {
  RewrittenBadList listed;
  for (uint32_t slot = 0; slot < step.facts.geometry().raid_disks(); ++slot) {
    step.facts.NoteRewritten(slot, columns, &listed);
  }
  step.still_bad |= !listed.empty();
}

// All bytes of the stripe are the caller's: there is nothing to put back.
bool WriteExecutor::NoteZeroErrors(std::span<const IoRecord> zeroed) {
  StripeStep& step = steps_[zeroed[0].unit];
  const ColumnRange chunk{0, step.facts.geometry().chunk_bytes()};
  uint32_t lost = step.facts.AbsentSlots(chunk);
  bool is_full = false;
  for (const IoRecord& record : zeroed) {
    if (IsFull(record.error)) {
      step.errors.push_back({chunk, record.error});
      is_full = true;
    } else if (record.error != 0) {
      ++lost;
      step.member_errors.push_back({.slot = record.slot, .error = record.error});
      step.stale.push_back(step.member_errors.back());
    }
  }
  if (lost > 2) {
    step.errors.push_back({chunk, EIO});
  }
  if (is_full) {
    unsettled_.push_back({&step, chunk});
  }
  return !is_full && lost <= 2;
}

// As in md, a block on its member's bad-block list that again cannot be written stays there, and
// its member where it is: nobody reads the block, so it is stale to nobody.
bool WriteExecutor::StaysBad(StripeStep& step, uint32_t slot, ColumnRange columns) {
  const bool is_listed = step.facts.IsListedBad(slot, columns);
  step.still_bad |= is_listed;
  return is_listed;
}

// Parity that was made from data alone, and stored, is owed no more.
void WriteExecutor::NotePaid(Unit& unit, std::span<const IoRecord> written) {
  const bool is_stored =
      std::all_of(written.begin(), written.end(), [](const IoRecord& r) { return r.error == 0; });
  if (is_stored && (unit.piece.strategy == WriteStrategy::kReconstruct ||
                    unit.piece.strategy == WriteStrategy::kDecode)) {
    unit.piece.step->paid.push_back(unit.piece.columns);
  }
}

// How many blocks of the unit's columns cannot be read now that it has been written: absent ones,
// those whose write failed, and those that could not be read before and were not rewritten.
uint32_t WriteExecutor::CountLost(const Unit& unit, std::span<const IoRecord> written) {
  const StripeFacts& facts = unit.piece.step->facts;
  uint32_t lost = 0;
  for (uint32_t slot = 0; slot < facts.geometry().raid_disks(); ++slot) {
    const SlotAccess access = facts.Access(slot, unit.piece.columns);
    const auto record = std::find_if(written.begin(), written.end(),
                                     [slot](const IoRecord& r) { return r.slot == slot; });
    const bool is_written = record != written.end() && record->error == 0;
    const bool has_failed = record != written.end() && record->error != 0 && !IsFull(record->error);
    if (has_failed || (access != SlotAccess::kReadable && !is_written)) {
      ++lost;
    }
  }
  return lost;
}

bool WriteExecutor::NoteWriteErrors(Unit& unit, std::span<const IoRecord> written) {
  StripeStep& step = *unit.piece.step;
  int full = 0;
  bool has_failed = false;
  for (const IoRecord& record : written) {
    if (IsFull(record.error)) {
      full = record.error;
    } else if (record.error != 0) {
      has_failed = true;
      if (!StaysBad(step, record.slot, unit.piece.columns)) {
        step.member_errors.push_back({.slot = record.slot, .error = record.error});
      }
    }
  }
  if (full == 0 && !has_failed) {
    return true;
  }
  const uint32_t lost = CountLost(unit, written);
  const bool is_stored = full == 0 && lost <= 2;
  if (!is_stored) {
    step.errors.push_back({unit.piece.columns, lost > 2 ? EIO : full});
    if (KnowsOldBlocks(unit)) {
      if (!Undo(unit, written)) {
        unsettled_.push_back({&step, unit.piece.columns});
      }
      return false;
    }
    if (full != 0) {
      unsettled_.push_back({&step, unit.piece.columns});
    }
  }
  for (const IoRecord& record : written) {
    if (record.error != 0 && !IsFull(record.error) &&
        !StaysBad(step, record.slot, unit.piece.columns)) {
      step.stale.push_back({.slot = record.slot, .error = record.error});
    }
  }
  return is_stored;
}

// Puts the old bytes back on all members that were written, also on those where that failed: a part
// may have been stored. A block of which the old bytes cannot be had back is stale, whatever it
// holds. False when a full file system keeps blocks from being as they were.
bool WriteExecutor::Undo(Unit& unit, std::span<const IoRecord> written) {
  StripeStep& step = *unit.piece.step;
  const StripeFacts& facts = step.facts;
  const auto old_bytes = [&](uint32_t slot) {
    const bool is_data = facts.roles().RoleOf(slot).kind == ChunkKind::kData;
    return is_data ? unit.old_bytes[slot] : unit.new_bytes[slot];
  };
  RestoreOldBlocks(unit);
  batch_.Clear();
  for (const IoRecord& record : written) {
    batch_.AddWrite(facts.Device(record.slot),
                    facts.MemberOffset(record.slot, unit.piece.columns.begin),
                    old_bytes(record.slot), unit.piece.columns.size());
  }
  if (batch_.Run()) {
    return true;
  }
  bool is_undone = true;
  for (size_t i = 0; i < written.size(); ++i) {
    const MemberError error{.slot = written[i].slot, .error = batch_.error(i)};
    if (IsFull(error.error)) {
      is_undone &= Holds(unit, error.slot, old_bytes(error.slot));
    } else if (error.error != 0 && !StaysBad(step, error.slot, unit.piece.columns)) {
      step.stale.push_back(error);
      if (written[i].error == 0 || IsFull(written[i].error)) {
        step.member_errors.push_back(error);
      }
    }
  }
  return is_undone;
}

// Whether the member holds these bytes in the unit's columns.
bool WriteExecutor::Holds(const Unit& unit, uint32_t slot, const std::byte* bytes) {
  const StripeFacts& facts = unit.piece.step->facts;
  const ColumnRange columns = unit.piece.columns;
  AlignedBuffer stored(columns.size());  // scratch may be in use to the last byte
  IoBatch batch(IoBatch::Reads::kForOthers);
  batch.AddRead(facts.Device(slot), facts.MemberOffset(slot, columns.begin), stored.data(),
                columns.size());
  return batch.Run() && std::memcmp(stored.data(), bytes, columns.size()) == 0;
}

// After all waves: scratch is free, and what is stale in one column is stale in all.
void WriteExecutor::Settle() {
  for (const Unsettled& unsettled : unsettled_) {
    StripeStep& step = *unsettled.step;
    for (const MemberError& error : step.stale) {
      step.facts.MarkStale(error.slot);
    }
    MemberErrors failed;
    if (!SettleParity(step.facts, step.extents, unsettled.columns, &failed)) {
      step.owed.push_back(unsettled.columns);
    }
    const auto stays_bad = [&](const MemberError& error) {
      return StaysBad(step, error.slot, unsettled.columns);
    };
    failed.erase(std::remove_if(failed.begin(), failed.end(), stays_bad), failed.end());
    step.member_errors.insert(step.member_errors.end(), failed.begin(), failed.end());
    step.stale.insert(step.stale.end(), failed.begin(), failed.end());
  }
}

}  // namespace mdvol
