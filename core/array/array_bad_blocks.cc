// ArrayImpl: the members' bad-block logs. A block that could be neither read nor rewritten, or not
// be rebuilt, is noted, durably before anybody is told that all is well, and no more than that
// happens to its member: as in md, it is failed only when its log has no room. A block that was
// written over is taken off the list once what was written is durable.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/array/member_io.h"
#include "core/base/status.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

absl::StatusOr<std::vector<uint8_t>> LogOf(const ArrayMember& member, const BadBlockList& list) {
  if (member.areas.bad_blocks.empty()) {
    return ErrnoStatus(ENOSPC, absl::StrCat(member.path, ": has no bad-block log"));
  }
  return SerializeBadBlockLog(list, member.super.bblog_shift, member.areas.bad_blocks.size());
}

}  // namespace

// ENOSPC is the write's alone: a flush that fails has lost something, whatever for (I11).
absl::Status ArrayImpl::StoreLog(ArrayMember& member, const std::vector<uint8_t>& log) {
  MDVOL_RETURN_IF_ERROR(WriteAnywhere(*member.device, member.areas.bad_blocks.begin, log));
  MemberFailures failures;
  absl::MutexLock lock(&flush_);
  FlushMembers({&member}, &failures);
  return failures.empty() ? absl::OkStatus()
                          : ErrnoStatus(EIO, absl::StrCat(member.path, ": ", failures[0].why));
}

// In the log and in memory; a generation has to follow, for a log counts only where the superblock
// says that there is one. *has_room is false when there is none, and nothing was done.
absl::Status ArrayImpl::NoteBadBlock(ArrayMember& member, const ByteRange& range, bool* has_room) {
  BadBlockList list = member.bad_blocks;
  list.Add(range);
  const auto log = LogOf(member, list);
  *has_room = log.ok();
  if (!log.ok()) {
    return absl::OkStatus();
  }
  MDVOL_RETURN_IF_ERROR(StoreLog(member, *log));
  recorded_.store(false, std::memory_order_release);
  GateClosure members(members_gate_);
  absl::MutexLock lock(&state_);
  member.bad_blocks = std::move(list);
  return absl::OkStatus();
}

// What could not be recovered of targets.
absl::Status ArrayImpl::RecordHoles(const std::vector<MemberPart>& holes) {
  MemberFailures failures;
  for (const MemberPart& hole : holes) {
    failures.push_back({hole.member->index, "a block could not be rebuilt", hole.range});
  }
  return FailMembers(failures);
}

// Takes off the list who need not be failed: those of whom a bad block could be noted.
absl::Status ArrayImpl::NoteBadBlocks(MemberFailures* failures) {
  MemberFailures left;
  absl::Status full;
  for (const MemberFailure& failure : *failures) {
    ArrayMember& member = *members_[failure.index];
    if (failure.bad.empty() || member.faulty) {
      left.push_back(failure);
      continue;
    }
    bool has_room = false;
    const absl::Status status = NoteBadBlock(member, failure.bad, &has_room);
    if (!status.ok() && IsFull(ErrnoOf(status))) {
      full.Update(status);
      continue;
    }
    if (!status.ok() || !has_room) {
      left.push_back({failure.index, absl::StrCat(failure.why, ", and its bad-block log ",
                                                  has_room ? "could not be written" : "is full")});
      continue;
    }
    events_.Add(
        EventLevel::kWarning, "bad block noted", member.name,
        absl::StrCat(failure.bad.size(), " bytes at ", failure.bad.begin, ": ", failure.why));
  }
  *failures = std::move(left);
  return full;
}

// A block that stays on the list for now is served from the others. All do when a later write may
// have failed on one of them: `still_bad` is what still_bad_ is if none has. Nobody may fail
// meanwhile either, so both gates are closed.
void ArrayImpl::ForgetBadBlocks(const std::vector<MemberPart>& parts, uint64_t still_bad,
                                MemberFailures* failures) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  bool is_any_empty = false;
  {
    GateClosure members(members_gate_);
    if (still_bad_.load(std::memory_order_acquire) != still_bad) {
      return;
    }
    for (const MemberPart& part : parts) {
      is_any_empty |= ForgetBadBlock(part, failures);
    }
  }
  if (is_any_empty) {  // superblocks say whether there are any
    if (const absl::Status status = WriteGeneration(); !status.ok()) {
      events_.Add(EventLevel::kWarning, "bad-block list not recorded", "", MessageOf(status));
    }
  }
}

// What was written comes first, or a loss of power would leave old bytes that are called good. True
// when nothing is left on the list.
bool ArrayImpl::ForgetBadBlock(const MemberPart& part, MemberFailures* failures) {
  ArrayMember& member = *part.member;
  if (member.faulty || read_only() || failed_.load(std::memory_order_acquire)) {
    return false;
  }
  const size_t failures_before = failures->size();
  {
    absl::MutexLock lock(&flush_);
    FlushMembers({&member}, failures);
  }
  BadBlockList list = member.bad_blocks;
  list.Remove(part.range);
  const auto log = LogOf(member, list);
  if (failures->size() != failures_before || !log.ok()) {
    return false;
  }
  if (const absl::Status status = StoreLog(member, *log); !status.ok()) {
    if (!IsFull(ErrnoOf(status))) {
      failures->push_back({member.index, absl::StrCat("its bad-block log could not be written: ",
                                                      MessageOf(status))});
    }
    return false;
  }
  absl::MutexLock lock(&state_);
  member.bad_blocks = std::move(list);
  return member.bad_blocks.empty();
}

}  // namespace mdvol
