// ArrayImpl: from loaded members and an assembly decision to a running array.

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/array_impl.h"
#include "core/array/member_name.h"
#include "core/base/status.h"
#include "core/base/units.h"

namespace mdvol {
namespace {

// How many stripes one bit of doubt covers: a bitmap chunk, or md's default chunk where there is no
// bitmap.
uint64_t StripesPerDoubt(const LoadedMember& reference, const ArrayGeometry& geometry) {
  uint64_t chunk_bytes = kBitmapDefaultChunkBytes;
  if (reference.report.bitmap.has_value()) {
    chunk_bytes = reference.report.bitmap->chunksize;
  }
  return std::max<uint64_t>(1, chunk_bytes >> geometry.chunk_shift());
}

bool IsAdopted(const MemberVerdict& verdict) {
  return verdict.standing != MemberStanding::kStale && verdict.standing != MemberStanding::kForeign;
}

absl::StatusOr<ArrayGeometry> GeometryOf(const Superblock& super) {
  return ArrayGeometry::Make(static_cast<Layout>(super.layout.get()), super.raid_disks,
                             uint64_t{super.chunksize.get()} * kSectorBytes,
                             super.size * kSectorBytes);
}

}  // namespace

absl::Status CheckMemberAlignment(const MemberDevice& device, uint64_t data_begin_bytes) {
  const uint64_t alignment = device.alignment_bytes();
  // Columns are rounded to it, and a chunk is 4 KiB at least.
  if (!std::has_single_bit(alignment) || alignment > kLaneBytes) {
    return ErrnoStatus(
        EINVAL, absl::StrCat(device.path(), ": direct I/O there wants multiples of ", alignment,
                             " bytes, mdvol can do 4096 at most: mount it without --direct"));
  }
  if (data_begin_bytes % alignment == 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(EINVAL, absl::StrCat(device.path(), ": its data begin at ", data_begin_bytes,
                                          " bytes, and direct I/O there wants multiples of ",
                                          alignment, ": mount it without --direct"));
}

ArrayImpl::ArrayImpl(const ArrayGeometry& geometry, const ArrayOptions& options,
                     uint64_t stripes_per_doubt, Clock& clock, EventLog& events)
    : geometry_(geometry),
      options_(options),
      clock_(clock),
      foreground_(clock),
      events_(events),
      doubt_(geometry.stripe_count(), stripes_per_doubt),
      engine_(
          geometry, [this](uint64_t stripe) { return doubt_.Contains(stripe); }, options.policies,
          clock),
      read_only_(options.assembly.read_only),
      safe_mode_delay_ms_(options.safe_mode_delay_ms) {
  engine_.set_rmw_level(options.rmw_level);
  engine_.cache().Resize(
      options.stripe_cache_size.value_or(DefaultStripeCacheLanes(geometry.raid_disks())));
}

absl::StatusOr<std::unique_ptr<Array>> Array::Start(std::vector<LoadedMember> members,
                                                    const ArrayOptions& options, Clock& clock,
                                                    EventLog& events) {
  if (members.empty()) {
    return UsageError("no members were given");
  }
  std::vector<MemberReport> reports;
  for (const LoadedMember& member : members) {
    reports.push_back(member.report);
  }
  const AssemblyDecision decision = DecideAssembly(reports, options.assembly);
  MDVOL_RETURN_IF_ERROR(decision.status);
  const LoadedMember& reference = members[decision.reference];
  MDVOL_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(reference.report.super));
  auto array = std::make_unique<ArrayImpl>(geometry, options, StripesPerDoubt(reference, geometry),
                                           clock, events);
  MDVOL_RETURN_IF_ERROR(array->Adopt(std::move(members), decision));
  return array;
}

absl::Status ArrayImpl::Adopt(std::vector<LoadedMember> members, const AssemblyDecision& decision) {
  reference_ = members[decision.reference].report.super;
  minor_ = members[decision.reference].report.minor;
  const Superblock freshest = members[decision.freshest].report.super;
  if (!read_only() && reference_.has_feature(kFeatureJournal)) {
    return ErrnoStatus(EROFS, absl::StrCat(members[decision.reference].report.path,
                                           ": the array has a write journal, which this version "
                                           "does not replay: mount it with --read-only"));
  }
  {
    absl::MutexLock lock(&state_);
    events_count_ = decision.events;
    updated_us_ = MdTimeSeconds(reference_.utime) * 1000000;
  }
  AdoptBitmap(members, decision);
  AdoptDoubt(decision);
  for (size_t i = 0; i < members.size(); ++i) {
    const MemberVerdict& verdict = decision.members[i];
    if (!IsAdopted(verdict)) {
      events_.Add(EventLevel::kWarning, "member left out", MemberNameOf(members[i].report.path),
                  verdict.reason);
      continue;  // its device is closed, and so let go
    }
    MDVOL_RETURN_IF_ERROR(CheckMemberAlignment(*members[i].device, members[i].areas.data.begin));
    AdoptMember(std::move(members[i]), verdict);
  }
  for (const std::string& warning : decision.warnings) {
    events_.Add(EventLevel::kWarning, "warning", "", warning);
  }
  AdoptRoles(freshest);
  {
    GateClosure closed(members_gate_);
    absl::MutexLock lock(&state_);
    AdoptReplacements(decision);
    RebuildView();
  }
  dirty_.store(decision.dirty, std::memory_order_release);
  events_.Add(
      EventLevel::kInfo, "array started", "",
      absl::StrCat(geometry_.raid_disks() - decision.missing, " of ", geometry_.raid_disks(),
                   " members", read_only() ? ", read-only" : "", decision.dirty ? ", dirty" : ""));
  return read_only() ? absl::OkStatus() : RecordStart(decision, freshest);
}

void ArrayImpl::AdoptMember(LoadedMember loaded, const MemberVerdict& verdict) {
  auto member = std::make_unique<ArrayMember>();
  member->index = members_.size();
  member->path = loaded.report.path;
  member->name = UniqueName(member->path);
  member->device = std::move(loaded.device);
  member->counting = dynamic_cast<CountingDevice*>(member->device.get());
  member->minor = loaded.report.minor;
  member->areas = loaded.areas;
  member->bad_blocks = std::move(loaded.bad_blocks);
  member->super = loaded.report.super;
  member->durable_events = member->super.events;
  member->spare = verdict.standing == MemberStanding::kSpare;
  member->corrected_errors.store(loaded.report.super.cnt_corrected_read);
  const uint64_t component_bytes = geometry_.component_bytes();
  if (verdict.standing == MemberStanding::kInSync) {
    member->in_sync = !verdict.is_replacement;
    member->valid_bytes.store(component_bytes);
  } else if (verdict.standing == MemberStanding::kRecovering) {
    member->valid_bytes.store(std::min(verdict.recovery_bytes, component_bytes - 1));
    member->guided = member->super.has_feature(kFeatureRecoveryBitmap) && !verdict.is_replacement;
  }
  member->checkpoint_bytes = member->valid_bytes.load();
  (verdict.is_replacement ? member->replaces : member->slot) = verdict.slot;
  if (member->counting != nullptr) {
    member->counting->SetRange(member->areas.data.begin, member->areas.data.end);
  }
  members_.push_back(std::move(member));
}

// The reference's bits are the truth. Memory may only have what is durable on every member: where
// others have other bits (a crash came between two members' pages), or the bits cannot be believed,
// RecordStart stores them everywhere.
void ArrayImpl::AdoptBitmap(const std::vector<LoadedMember>& members,
                            const AssemblyDecision& decision) {
  const LoadedMember& reference = members[decision.reference];
  if (reference.bitmap_file.empty()) {
    return;
  }
  intent_ = std::make_unique<WriteIntent>(reference.bitmap_file);
  time_base_s_.store(std::clamp<uint32_t>(intent_->super().daemon_sleep, 1, kMaxTimeBaseSeconds));
  if (!decision.bitmap_usable) {
    // The superblock goes on saying so until the new bits are durable: the next generation writes
    // one that vouches for them.
    intent_->SetAll();
    bits_differ_ = true;
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const bool keeps_bits = decision.members[i].slot.has_value() &&
                            IsAdopted(decision.members[i]) && !members[i].bitmap_file.empty();
    bits_differ_ |= keeps_bits && !intent_->AgreesWith(members[i].bitmap_file);
  }
}

// Which stripes have parity that cannot be trusted: all behind the resync's checkpoint, narrowed by
// the bitmap.
void ArrayImpl::AdoptDoubt(const AssemblyDecision& decision) {
  if (!decision.dirty || (decision.forced && decision.missing > 0)) {
    return;  // forced while degraded: as mdadm, what is there is declared clean
  }
  const uint64_t first = decision.resync_bytes >> geometry_.chunk_shift();
  if (first >= geometry_.stripe_count()) {
    return;
  }
  if (intent_ == nullptr) {
    doubt_.Add({first, geometry_.stripe_count() - first});
    return;
  }
  const uint64_t stripes_per_bit =
      std::max<uint64_t>(1, intent_->chunk_bytes() >> geometry_.chunk_shift());
  for (uint64_t bit = 0; bit < intent_->bits(); ++bit) {
    if (intent_->IsSet(bit)) {
      const uint64_t begin = (bit * intent_->chunk_bytes()) >> geometry_.chunk_shift();
      if (begin < geometry_.stripe_count() && begin + stripes_per_bit > first) {
        doubt_.Add({begin, std::min(stripes_per_bit, geometry_.stripe_count() - begin)});
      }
    }
  }
}

// Read-only, a replacement is nobody's business. After an unclean stop it may lack what its
// original got last: it goes on from the first stripe that may have been written to then.
void ArrayImpl::AdoptReplacements(const AssemblyDecision& decision) {
  for (const auto& member : members_) {
    if (!member->replaces.has_value() || read_only()) {
      continue;
    }
    uint64_t valid_bytes = member->valid_bytes.load();
    if (const auto doubt = doubt_.Next(0); doubt.has_value()) {
      valid_bytes = std::min(valid_bytes, doubt->first << geometry_.chunk_shift());
    } else if (decision.dirty) {
      valid_bytes = 0;  // by force
    }
    member->valid_bytes.store(valid_bytes);
    member->checkpoint_bytes = valid_bytes;
    BeginMirroring(*member);
  }
}

void ArrayImpl::RebuildView() {
  view_.slots.assign(geometry_.raid_disks(), SlotView());
  view_.writable = !read_only() && !failed_.load(std::memory_order_acquire);
  view_.alignment_bytes = kSectorBytes;
  for (const auto& member : members_) {
    if (!member->slot.has_value() || member->faulty) {
      continue;
    }
    MemberDevice* const mirror = MirrorOf(*member->slot);
    MemberDevice* const device = mirror != nullptr ? mirror : member->device.get();
    view_.slots[*member->slot] = {.device = device,
                                  .data_offset_bytes = member->areas.data.begin,
                                  .valid_bytes = geometry_.component_bytes(),
                                  .bad_blocks = &member->bad_blocks,
                                  .checkpoint = member->in_sync ? nullptr : &member->valid_bytes};
    if (const ArrayMember* const replacement = ReplacementOf(*member->slot);
        mirror != nullptr && replacement != nullptr) {
      view_.slots[*member->slot].replacement_bad_blocks = &replacement->bad_blocks;
      view_.slots[*member->slot].replacement_offset_bytes = replacement->areas.data.begin;
    }
    view_.alignment_bytes = std::max<uint64_t>(view_.alignment_bytes, device->alignment_bytes());
  }
  engine_.MembersChanged(view_);
}

// Also of a replacement that has failed, until it is removed or another one is there.
MemberDevice* ArrayImpl::MirrorOf(uint32_t slot) const {
  MemberDevice* mirror = nullptr;
  for (const auto& member : members_) {
    if (member->replaces == slot && member->mirror != nullptr) {
      mirror = member->mirror.get();
      if (!member->faulty) {
        break;
      }
    }
  }
  return mirror;
}

// What the freshest table gives to numbers that nobody here has: a slot was lost with its member.
void ArrayImpl::AdoptRoles(const Superblock& freshest) {
  role_entries_ = std::min<uint32_t>(freshest.max_dev, kMaxDevices);
  absl::MutexLock lock(&state_);
  for (uint32_t number = 0; number < role_entries_; ++number) {
    const uint16_t role = freshest.dev_roles[number];
    const bool is_here = std::any_of(members_.begin(), members_.end(), [&](const auto& member) {
      return member->super.dev_number == number;
    });
    if (!is_here && (role < kRoleMax || role == kRoleFaulty)) {
      faulty_numbers_.insert(number);
    }
  }
}

// Whether the freshest, or a member in a slot, has another table than all shall have. A spare's may
// be old: nobody asks it.
bool ArrayImpl::IsAnyTableOld(const Superblock& freshest) const {
  absl::MutexLock lock(&state_);
  const std::vector<uint16_t> table = RoleTable();
  const auto is_old = [&](const Superblock& super) {
    const size_t common = std::min<size_t>(table.size(), super.max_dev);
    return !std::equal(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(common),
                       super.dev_roles.begin(),
                       [](uint16_t ours, const le16& theirs) { return ours == theirs.get(); });
  };
  bool is_any_old = is_old(freshest);
  for (const auto& member : members_) {
    is_any_old |= RoleOf(*member) < kRoleMax && is_old(member->super);
  }
  return is_any_old;
}

bool ArrayImpl::AnyBehind() const {
  absl::MutexLock lock(&state_);
  for (const auto& member : members_) {
    if (!member->faulty && member->durable_events != events_count_) {
      return true;
    }
  }
  return false;
}

// What a read-write start has to make durable before anything else happens: force, slots that lost
// their members, members that are an event behind, bits that not every member has. A clean start of
// a whole array writes nothing.
absl::Status ArrayImpl::RecordStart(const AssemblyDecision& decision, const Superblock& freshest) {
  absl::MutexLock transition(&transition_);
  GateClosure closed(writes_gate_);
  if (bits_differ_) {
    StoreOutcome outcome;
    StorePages(intent_->Pages(), /*flush=*/true, &outcome);
    MDVOL_RETURN_IF_ERROR(TakeOut(outcome.failures));
    MDVOL_RETURN_IF_ERROR(outcome.full);
  }
  const bool has_news = IsAnyTableOld(freshest);
  if (AnyBehind()) {
    // They catch up first: two events in one step would leave them two behind after a crash.
    generation_ = Generation::kPartlyWritten;
    MDVOL_RETURN_IF_ERROR(WriteGeneration());
  }
  if (!decision.forced && !decision.dirty && !has_news && !bits_differ_) {
    return absl::OkStatus();
  }
  dirty_.store(true, std::memory_order_release);
  MDVOL_RETURN_IF_ERROR(WriteGeneration());
  last_write_ns_.store(clock_.NowNs(), std::memory_order_relaxed);
  return absl::OkStatus();
}

// The file's name, with a number behind it when another member has it already.
std::string ArrayImpl::UniqueName(const std::string& path) const {
  const std::string base = MemberNameOf(path);
  std::string name = base;
  for (int number = 2; std::any_of(members_.begin(), members_.end(),
                                   [&](const auto& m) { return !m->removed && m->name == name; });
       ++number) {
    name = absl::StrCat(base, "-", number);
  }
  return name;
}

}  // namespace mdvol
