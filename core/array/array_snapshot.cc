// ArrayImpl: the snapshot, and the knobs of md/.

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

// How recent a write makes a dirty array "active" rather than "active-idle", as md's safe mode
// timer would see it.
constexpr uint64_t kRecentNs = 1000000000;

}  // namespace

const char* ArrayStateWord(ArrayState state) {
  switch (state) {
    case ArrayState::kClean:
      return "clean";
    case ArrayState::kActive:
      return "active";
    case ArrayState::kActiveIdle:
      return "active-idle";
    case ArrayState::kReadonly:
      return "readonly";
    case ArrayState::kFailed:
      return "broken";
  }
  return "unknown";
}

MemberSnapshot ArrayImpl::SnapshotOf(const ArrayMember& member) const {
  MemberSnapshot result;
  result.index = member.index;
  result.name = member.name;
  result.path = member.path;
  result.dev_number = member.super.dev_number;
  result.slot = member.faulty ? std::nullopt : member.slot;
  result.faulty = member.faulty;
  result.spare = member.spare && !member.faulty;
  result.in_sync = IsInSync(member);
  result.recovering = IsTarget(member);
  result.want_replacement = member.want_replacement;
  result.replacement = member.replaces.has_value() && !member.faulty;
  result.replaces = result.replacement ? member.replaces : std::nullopt;
  result.write_mostly = (member.super.devflags & 1) != 0;
  result.uuid = member.super.device_uuid;
  result.device_bytes = member.device->size_bytes();
  result.data_offset_bytes = member.areas.data.begin;
  result.data_bytes = geometry_.component_bytes();
  result.recovery_bytes = member.valid_bytes.load(std::memory_order_acquire);
  result.errors = member.corrected_errors.load(std::memory_order_relaxed);
  result.events = member.super.events;
  const auto bad = member.bad_blocks.ranges();
  result.bad_blocks.assign(bad.begin(), bad.end());
  if (member.counting != nullptr) {
    result.io = member.counting->Counts();
  }
  return result;
}

ArraySnapshot ArrayImpl::Snapshot() const {
  ArraySnapshot result;
  result.name = SetName(reference_);
  result.uuid = reference_.set_uuid;
  result.layout = geometry_.layout();
  result.raid_disks = geometry_.raid_disks();
  result.chunk_bytes = geometry_.chunk_bytes();
  result.component_bytes = geometry_.component_bytes();
  result.array_bytes = geometry_.volume_bytes();
  result.read_only = read_only();
  result.created_s = MdTimeSeconds(reference_.ctime);
  result.rmw_level = engine_.rmw_level();
  result.stripe_cache_size = engine_.cache().size();
  result.stripe_cache_active = engine_.cache().active();
  result.safe_mode_delay_ms = safe_mode_delay_ms_.load();
  result.max_read_errors = max_read_errors_.load();
  const bool dirty = dirty_.load(std::memory_order_acquire);
  result.dirty = dirty;
  const uint64_t idle_ns = clock_.NowNs() - last_write_ns_.load(std::memory_order_relaxed);
  result.state = read_only()           ? ArrayState::kReadonly
                 : failed_.load()      ? ArrayState::kFailed
                 : !dirty              ? ArrayState::kClean
                 : idle_ns < kRecentNs ? ArrayState::kActive
                                       : ArrayState::kActiveIdle;
  const std::optional<StripeRange> doubt = doubt_.Next(0);
  result.resync_bytes = doubt.has_value() ? doubt->first << geometry_.chunk_shift() : kResyncDone;
  {
    absl::MutexLock lock(&state_);
    result.events = events_count_;
    result.updated_s = updated_us_ / 1000000;
    result.awaits_space = !owed_.empty() || doubt_awaits_space_.load(std::memory_order_acquire);
    uint32_t in_sync = 0;
    result.minor = minor_;
    for (const auto& member : members_) {
      if (member->removed) {
        continue;
      }
      result.members.push_back(SnapshotOf(*member));
      in_sync += result.members.back().in_sync ? 1u : 0u;
    }
    result.degraded = geometry_.raid_disks() - in_sync;
  }
  if (intent_ != nullptr) {
    BitmapSnapshot& bitmap = result.bitmap.emplace();
    bitmap.chunk_bytes = intent_->chunk_bytes();
    bitmap.time_base_s = time_base_s_.load();
    bitmap.can_clear = result.degraded == 0;
    bitmap.offset_sectors = reference_.bitmap_offset.get();
    bitmap.bits = intent_->bits();
    bitmap.bits_set = intent_->CountSet();
    bitmap.pages = CeilDiv(kBitmapSuperBytes + CeilDiv(intent_->bits(), 8), 4096);
    bitmap.pages_set = intent_->CountSetPages();
  }
  return result;
}

absl::Status ArrayImpl::SetRmwLevel(uint32_t level) {
  if (level > 2) {
    return ErrnoStatus(EINVAL, absl::StrCat("rmw_level ", level, ": must be 0, 1 or 2"));
  }
  engine_.set_rmw_level(level);
  return absl::OkStatus();
}

void ArrayImpl::SetSafeModeDelay(uint32_t milliseconds) {
  safe_mode_delay_ms_.store(milliseconds);
  PokeMaintenance();
}

void ArrayImpl::SetMaxReadErrors(uint32_t count) { max_read_errors_.store(count); }

absl::Status ArrayImpl::SetStripeCacheSize(uint32_t lanes) {
  if (lanes < kMinStripeCacheLanes || lanes > kMaxStripeCacheLanes) {
    return ErrnoStatus(EINVAL, absl::StrCat("stripe_cache_size ", lanes, ": must be ",
                                            kMinStripeCacheLanes, " to ", kMaxStripeCacheLanes));
  }
  engine_.cache().Resize(lanes);
  return absl::OkStatus();
}

absl::Status ArrayImpl::SetBitmapTimeBase(uint32_t seconds) {
  if (intent_ == nullptr) {
    return ErrnoStatus(EINVAL, "the array has no bitmap");
  }
  if (seconds == 0 || seconds > kMaxTimeBaseSeconds) {
    return ErrnoStatus(EINVAL, absl::StrCat("bitmap/time_base ", seconds, ": must be 1 to ",
                                            kMaxTimeBaseSeconds, " seconds"));
  }
  time_base_s_.store(seconds);
  next_upkeep_ns_.store(0);
  PokeMaintenance();
  return absl::OkStatus();
}

absl::Status ArrayImpl::SetState(std::string_view word) {
  if (word != "clean" && word != "active" && word != "readonly") {
    return ErrnoStatus(EINVAL, absl::StrCat("array_state cannot be set to '", std::string(word),
                                            "': clean, active or readonly"));
  }
  if (failed_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EBUSY, "the array has lost more than two members");
  }
  if (word == "clean") {
    if (read_only()) {
      return ErrnoStatus(EROFS, "the array is read-only");
    }
    MDVOL_RETURN_IF_ERROR(MarkClean(/*forced=*/true));
    return dirty_.load(std::memory_order_acquire)
               ? ErrnoStatus(EBUSY, "the array cannot be marked clean now")
               : absl::OkStatus();
  }
  if (word == "active") {
    return read_only() ? ErrnoStatus(EBUSY, "the array was started read-only: mount it again")
                       : MarkDirty();
  }
  return read_only() ? absl::OkStatus() : BecomeReadOnly();
}

// For good: md can go back, but then has the right to reopen its members, which a read-only start
// would not have here.
absl::Status ArrayImpl::BecomeReadOnly() {
  MDVOL_RETURN_IF_ERROR(MarkClean(/*forced=*/true));
  absl::MutexLock transition(&transition_);
  GateClosure writes(writes_gate_);
  if (dirty_.load(std::memory_order_acquire)) {
    return ErrnoStatus(EBUSY, "the array is busy: it could not be marked clean");
  }
  GateClosure members(members_gate_);
  view_.writable = false;
  read_only_.store(true, std::memory_order_release);
  events_.Add(EventLevel::kInfo, "array read-only", "", "by request");
  return absl::OkStatus();
}

}  // namespace mdvol
