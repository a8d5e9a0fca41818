// ArrayImpl: rebuilding members in their slots, and replacements beside them.
//
// A target has a checkpoint that moves: bytes below it are read and written like any member's,
// those beyond are neither (I5). It moves while the stripes are led, so that no write can slip
// between; of a guided target, which differs only where bits are set, it also moves over runs
// without bits, while no write is in flight. What superblocks say of it is less: what had been
// flushed when they were written. How windows are filled: array_windows.cc.

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/stripe/io_errors.h"

namespace mdvol {
namespace {

constexpr uint32_t kMaxRebuilds = 2;

// See MirrorDevice::Run.
MirrorDevice::Run ListedRun(const ArrayMember& member, uint64_t begin_bytes, uint64_t end_bytes) {
  const uint64_t unit = member.device->alignment_bytes();
  for (const ByteRange& bad : member.bad_blocks.ranges()) {
    const uint64_t begin = RoundUp(bad.begin, unit);
    const uint64_t end = RoundDown(bad.end, unit);
    if (end <= begin_bytes || end <= begin) {
      continue;
    }
    return begin <= begin_bytes ? MirrorDevice::Run{std::min(end, end_bytes), true}
                                : MirrorDevice::Run{std::min(begin, end_bytes), false};
  }
  return {end_bytes, false};
}

}  // namespace

bool ArrayImpl::IsTarget(const ArrayMember& member) const {
  return !member.faulty && !member.in_sync &&
         (member.slot.has_value() || member.replaces.has_value());
}

ArrayMember* ArrayImpl::ReplacementOf(uint32_t slot) const {
  for (const auto& member : members_) {
    if (!member->faulty && member->replaces == slot) {
      return member.get();
    }
  }
  return nullptr;
}

std::vector<ArrayMember*> ArrayImpl::Targets(bool joined_only) const {
  std::vector<ArrayMember*> targets;
  for (const auto& member : members_) {
    if (IsTarget(*member) && (member->joined || !joined_only)) {
      targets.push_back(member.get());
    }
  }
  return targets;
}

// Which spare could be put to use, and where: open slots come first.
ArrayImpl::SpareUse ArrayImpl::NextSpareUse() const {
  if (Targets(/*joined_only=*/false).size() >= kMaxRebuilds) {
    return {};
  }
  if (const std::optional<uint32_t> slot = OpenSlot(); slot.has_value()) {
    return {.spare = FirstIdleSpare(), .slot = *slot, .is_replacement = false};
  }
  for (const auto& member : members_) {
    if (member->want_replacement && IsInSync(*member) && ReplacementOf(*member->slot) == nullptr) {
      return {.spare = FirstSpareFor(*member), .slot = *member->slot, .is_replacement = true};
    }
  }
  return {};
}

// From now on what is written to the slot's member goes to the replacement too. A mirror stays in
// use until its replacement is removed or takes the slot: slots keep their device for as long as
// their member is the same.
void ArrayImpl::BeginMirroring(ArrayMember& replacement) {
  for (const auto& original : members_) {
    if (!original->faulty && original->slot == replacement.replaces) {
      replacement.mirror = std::make_unique<MirrorDevice>(
          *original->device, *replacement.device,
          MirrorDevice::Areas{.original_offset_bytes = original->areas.data.begin,
                              .replacement_offset_bytes = replacement.areas.data.begin,
                              .data_bytes = geometry_.component_bytes()},
          MirrorDevice::BadBlocks{
              .run = [&replacement](uint64_t begin,
                                    uint64_t end) { return ListedRun(replacement, begin, end); },
              // Whoever writes is inside members_gate_, so this is counted before he has left it.
              .still_bad = [this] { still_bad_.fetch_add(1, std::memory_order_acq_rel); }});
      is_mirroring_.store(true, std::memory_order_release);
    }
  }
}

// Replacements that could not be written: they have to be failed before anybody is told that his
// bytes are stored.
void ArrayImpl::AddMirrorFailures(MemberFailures* failures) const {
  if (!is_mirroring_.load(std::memory_order_acquire)) {
    return;
  }
  absl::MutexLock lock(&state_);
  for (const auto& member : members_) {
    if (member->mirror != nullptr && !member->faulty && member->mirror->replacement_error() != 0) {
      failures->push_back({member->index, absl::StrCat("write failed: ",
                                                       std::generic_category().message(
                                                           member->mirror->replacement_error()))});
    }
  }
}

// ---- What there is to do ----

std::optional<RecoveryState> ArrayImpl::PendingRecovery() const {
  if (read_only() || failed_.load(std::memory_order_acquire)) {
    return std::nullopt;
  }
  absl::MutexLock lock(&state_);
  RecoveryState state{.from_bytes = geometry_.component_bytes(), .guided = true, .members = {}};
  for (const ArrayMember* const target : Targets(/*joined_only=*/false)) {
    state.from_bytes =
        std::min(state.from_bytes, target->valid_bytes.load(std::memory_order_acquire));
    state.guided &= target->guided;
    state.members.push_back(target->name);
  }
  if (const ArrayMember* const spare = NextSpareUse().spare; spare != nullptr) {
    state.from_bytes = 0;
    state.guided = false;
    state.members.push_back(spare->name);
  }
  return state.members.empty() ? std::nullopt : std::optional(state);
}

absl::Status ArrayImpl::BeginRecovery() {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  bool is_any_new = false;
  for (;;) {
    SpareUse use;
    {
      absl::MutexLock lock(&state_);
      use = NextSpareUse();
    }
    // Who is about to fail a member must find the slots as they are.
    if (use.spare == nullptr ||
        (use.is_replacement && unsettled_.load(std::memory_order_acquire) != 0)) {
      break;
    }
    const absl::Status status = AssignSpare(*use.spare, use.slot, use.is_replacement);
    if (status.ok()) {
      is_any_new = true;
      events_.Add(EventLevel::kInfo, use.is_replacement ? "replacement begun" : "spare put to use",
                  use.spare->name, absl::StrCat("for slot ", use.slot));
    } else if (!use.spare->faulty) {
      return status;  // no space: it may do later
    }
  }
  if (is_any_new || !recorded_.load(std::memory_order_acquire)) {
    MDVOL_RETURN_IF_ERROR(WriteGeneration());
  }
  absl::MutexLock lock(&state_);
  for (ArrayMember* const target : Targets(/*joined_only=*/false)) {
    target->joined = true;
  }
  return absl::OkStatus();
}

// How far all targets of this run are, and whether the bitmap guides them.
ArrayImpl::RecoveryFront ArrayImpl::Front() const {
  absl::MutexLock lock(&state_);
  RecoveryFront front{.valid_bytes = std::numeric_limits<uint64_t>::max(), .guided = true};
  for (const ArrayMember* const target : Targets(/*joined_only=*/true)) {
    front.valid_bytes =
        std::min(front.valid_bytes, target->valid_bytes.load(std::memory_order_acquire));
    front.guided &= target->guided;
  }
  front.guided &= intent_ != nullptr;
  return front;
}

// The stripes of the first run of set bits that reaches beyond `from_bytes` of the data areas.
std::optional<StripeRange> ArrayImpl::NextMarked(uint64_t from_bytes) const {
  const auto run = intent_->NextSet(from_bytes / intent_->chunk_bytes());
  if (!run.has_value() || from_bytes >= geometry_.component_bytes()) {
    return std::nullopt;
  }
  const uint64_t begin = std::max(from_bytes, run->first * intent_->chunk_bytes());
  const uint64_t end =
      std::min((run->last + 1) * intent_->chunk_bytes(), geometry_.component_bytes());
  if (begin >= end) {
    return std::nullopt;
  }
  const uint64_t first = begin >> geometry_.chunk_shift();
  return StripeRange{first, CeilDiv(end, geometry_.chunk_bytes()) - first};
}

std::optional<StripeRange> ArrayImpl::NextToRecover(uint64_t from_stripe) const {
  const RecoveryFront front = Front();
  if (front.valid_bytes >= geometry_.component_bytes()) {
    return std::nullopt;
  }
  const uint64_t first = std::max(from_stripe, front.valid_bytes >> geometry_.chunk_shift());
  if (first >= geometry_.stripe_count()) {
    return std::nullopt;
  }
  if (front.guided) {
    return NextMarked(first << geometry_.chunk_shift());
  }
  return StripeRange{first, geometry_.stripe_count() - first};
}

// ---- Recovering ----

// Moves the checkpoints of guided targets to the next set bit, or to `end_bytes`. None can be taken
// back meanwhile: that takes writes_gate_ too. A window that is being filled is never passed, for
// its bits stay.
void ArrayImpl::PassOverClean(uint64_t end_bytes) {
  const RecoveryFront front = Front();
  if (!front.guided) {
    return;
  }
  const std::optional<StripeRange> marked = NextMarked(front.valid_bytes);
  const uint64_t clean_end = marked.has_value()
                                 ? std::min(end_bytes, marked->first << geometry_.chunk_shift())
                                 : end_bytes;
  absl::MutexLock lock(&state_);
  for (ArrayMember* const target : Targets(/*joined_only=*/true)) {
    if (target->valid_bytes.load(std::memory_order_acquire) < clean_end) {
      target->valid_bytes.store(clean_end, std::memory_order_release);
    }
  }
}

// ---- Recording progress ----

absl::Status ArrayImpl::CheckpointRecovery() {
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  struct Reached {
    ArrayMember* target;
    uint64_t valid_bytes;
    uint32_t rewinds;
  };
  std::vector<Reached> reached;
  MemberFailures failures;
  {
    GateShare share(members_gate_);
    std::vector<ArrayMember*> targets;
    {
      absl::MutexLock lock(&state_);
      targets = Targets(/*joined_only=*/false);
      for (ArrayMember* const target : targets) {
        reached.push_back(
            {target, target->valid_bytes.load(std::memory_order_acquire), target->rewinds});
      }
    }
    absl::MutexLock lock(&flush_);
    FlushMembers(targets, &failures);
  }
  AddMirrorFailures(&failures);
  if (!failures.empty()) {
    MDVOL_RETURN_IF_ERROR(FailMembers(failures));
  }
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  bool is_news = false;
  {
    absl::MutexLock lock(&state_);
    for (const auto& [target, valid_bytes, rewinds] : reached) {
      // What a rewind has taken back, and what has been filled again since, is not what was
      // flushed.
      if (IsTarget(*target) && target->rewinds == rewinds &&
          target->checkpoint_bytes < valid_bytes) {
        target->checkpoint_bytes = valid_bytes;
        is_news = true;
      }
    }
  }
  return is_news ? WriteGeneration() : absl::OkStatus();
}

absl::Status ArrayImpl::EndRecovery() {
  for (;;) {
    {
      absl::MutexLock transition(&transition_);
      GateClosure closed(writes_gate_);
      // Whoever is about to fail a member must find the slots as they are.
      if (unsettled_.load(std::memory_order_acquire) == 0) {
        return TryEndRecovery();
      }
    }
    absl::MutexLock lock(&state_);
    while (unsettled_.load(std::memory_order_acquire) != 0) {
      settled_.Wait(&state_);
    }
  }
}

absl::Status ArrayImpl::TryEndRecovery() {
  MDVOL_RETURN_IF_ERROR(MayChangeMembers());
  if (Front().guided) {
    PassOverClean(geometry_.component_bytes());
  }
  std::vector<ArrayMember*> done;
  {
    absl::MutexLock lock(&state_);
    done = Targets(/*joined_only=*/true);
    std::erase_if(done, [&](const ArrayMember* target) {
      return target->valid_bytes.load(std::memory_order_acquire) < geometry_.component_bytes();
    });
  }
  MemberFailures failures;
  {
    GateShare share(members_gate_);
    absl::MutexLock lock(&flush_);
    FlushMembers(done, &failures);
  }
  AddMirrorFailures(&failures);
  MDVOL_RETURN_IF_ERROR(TakeOut(failures));
  std::erase_if(done, [](const ArrayMember* target) { return target->faulty; });
  if (done.empty() && failures.empty()) {
    return absl::OkStatus();
  }
  {
    GateClosure members(members_gate_);
    absl::MutexLock lock(&state_);
    for (ArrayMember* const target : done) {
      if (target->replaces.has_value()) {
        PutInPlace(*target);
      }
      target->in_sync = true;
      target->guided = false;
      target->joined = false;
      target->checkpoint_bytes = geometry_.component_bytes();
    }
    RebuildView();
  }
  for (const ArrayMember* const target : done) {
    events_.Add(EventLevel::kInfo, "member rebuilt", target->name,
                absl::StrCat("in slot ", *target->slot));
  }
  return WriteGeneration();
}

// The replacement is the slot's member from now on. Who was there before has done its duty: faulty,
// as in md, so that it can be removed.
void ArrayImpl::PutInPlace(ArrayMember& replacement) {
  const uint32_t slot = *replacement.replaces;
  for (const auto& member : members_) {
    if (member->slot == slot && !member->faulty) {
      member->faulty = true;
      member->want_replacement = false;
      events_.Add(EventLevel::kInfo, "member replaced", member->name,
                  absl::StrCat("by ", replacement.name));
    }
  }
  TakeSlot(replacement, slot);
  ForgetMirrors(slot);
}

void ArrayImpl::TakeSlot(ArrayMember& replacement, uint32_t slot) {
  replacement.replaces.reset();
  replacement.slot = slot;
  replacement.mirror = nullptr;
}

// The slot's member has gone: what would have replaced it, and had failed, has nothing to do with
// whoever comes next.
void ArrayImpl::ForgetMirrors(uint32_t slot) {
  for (const auto& member : members_) {
    if (member->replaces == slot) {
      member->replaces.reset();
      member->mirror = nullptr;
    }
  }
}

}  // namespace mdvol
