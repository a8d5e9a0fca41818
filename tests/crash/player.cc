// See player.h.

#include "tests/crash/player.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/stripe/sync_types.h"

namespace mdvol::crash {
namespace {

constexpr uint64_t kNsPerMs = 1000000;
constexpr uint64_t kStripesPerWindow = 2;

}  // namespace

Player::Player(testing::TestArray& array, std::vector<std::byte> content, uint64_t seed)
    : array_(array), prng_(seed), model_(std::move(content)) {}

// ---- The volume ----

absl::Status Player::Write(uint64_t offset_bytes, uint64_t length_bytes) {
  std::vector<std::byte> data(length_bytes);
  prng_.Fill(data);
  model_.Write(offset_bytes, data, array_.recording().size());
  return array_->Write(offset_bytes, data);
}

absl::Status Player::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  model_.Write(offset_bytes, std::vector<std::byte>(length_bytes), array_.recording().size());
  return array_->Zero(offset_bytes, length_bytes);
}

absl::Status Player::WriteStripes(uint64_t first, uint64_t count) {
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  return Write(first * stripe_bytes, count * stripe_bytes);
}

absl::Status Player::WriteSome() {
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  const uint64_t chunk_bytes = array_.geometry().chunk_bytes();
  const uint64_t stripe = prng_.Below(array_.geometry().stripe_count() - 1);
  const uint64_t begin = stripe * stripe_bytes;
  switch (prng_.Below(6)) {
    case 0:
      return WriteStripes(stripe, prng_.Between(1, 2));
    case 1:
      return Write(begin + chunk_bytes, stripe_bytes - chunk_bytes);
    case 2:
      return Write(begin, stripe_bytes / 2);
    case 3: {
      const uint64_t sectors = prng_.Between(1, chunk_bytes / kSectorBytes);
      const uint64_t skipped = prng_.Below(chunk_bytes / kSectorBytes - sectors + 1);
      const uint64_t chunk = prng_.Below(array_.geometry().data_disks());
      return Write(begin + chunk * chunk_bytes + skipped * kSectorBytes, sectors * kSectorBytes);
    }
    case 4:
      return Write(begin + prng_.Below(stripe_bytes), prng_.Between(1, 3000));
    default:
      return Write(begin + prng_.Below(stripe_bytes / 2),
                   prng_.Between(stripe_bytes / 4, stripe_bytes));
  }
}

absl::Status Player::ZeroSome() {
  const uint64_t stripe_bytes = array_.geometry().stripe_bytes();
  const uint64_t begin = prng_.Below(array_.geometry().stripe_count() - 1) * stripe_bytes;
  if (prng_.OneIn(2)) {
    return Zero(begin, stripe_bytes);
  }
  return Zero(begin + prng_.Below(stripe_bytes), prng_.Between(1, stripe_bytes / 2));
}

void Player::Promise() {
  model_.Settle(array_.recording().size());
  promise_times_.push_back(array_.recording().size());
}

absl::Status Player::Flush() {
  MDVOL_RETURN_IF_ERROR(array_->Flush());
  Promise();
  return absl::OkStatus();
}

absl::Status Player::Work(int count) {
  for (int i = 0; i < count; ++i) {
    MDVOL_RETURN_IF_ERROR(WriteSome());
    if (prng_.OneIn(2)) {
      MDVOL_RETURN_IF_ERROR(Flush());
    }
  }
  return absl::OkStatus();
}

void Player::Pass(uint64_t milliseconds) {
  array_.clock().Advance(milliseconds * kNsPerMs);
  array_->RunMaintenance();
}

absl::Status Player::Stop() {
  MDVOL_RETURN_IF_ERROR(array_.Stop());
  Promise();
  return absl::OkStatus();
}

// ---- Members ----

absl::StatusOr<size_t> Player::MemberOf(size_t disk) const {
  const std::optional<size_t> member = array_.MemberOf(disk);
  if (!member.has_value()) {
    return ErrnoStatus(ENODEV, absl::StrCat("disk ", disk, " is no member"));
  }
  return *member;
}

absl::Status Player::Fail(size_t disk) {
  MDVOL_ASSIGN_OR_RETURN(const size_t member, MemberOf(disk));
  return array_->FailMember(member, "as the scenario wants it");
}

absl::Status Player::Remove(size_t disk) {
  MDVOL_ASSIGN_OR_RETURN(const size_t member, MemberOf(disk));
  return array_->RemoveMember(member);
}

absl::Status Player::Add(size_t disk, AddMode mode) {
  return array_.AddMember(disk, mode).status();
}

absl::Status Player::Replace(size_t disk) {
  MDVOL_ASSIGN_OR_RETURN(const size_t member, MemberOf(disk));
  return array_->SetReplacement(member, std::nullopt);
}

void Player::BreakDataWrites(size_t disk) {
  const ByteRange& data = array_.areas(disk).data;
  array_.fault(disk).AddRule(
      {.op = FaultOp::kWrite, .offset_bytes = data.begin, .length_bytes = data.size()});
}

void Player::BreakSuperblockWrites(size_t disk) {
  const ByteRange& super = array_.areas(disk).super;
  array_.fault(disk).AddRule(
      {.op = FaultOp::kWrite, .offset_bytes = super.begin, .length_bytes = super.size()});
}

void Player::BreakFlushes(size_t disk) { array_.fault(disk).AddRule({.op = FaultOp::kFlush}); }

absl::Status Player::Rebuild() {
  return array_.Recover(kStripesPerWindow, [this](uint64_t /*from*/) -> absl::Status {
    if (prng_.OneIn(2)) {
      MDVOL_RETURN_IF_ERROR(Work(1));
    }
    return prng_.OneIn(2) ? array_->CheckpointRecovery() : absl::OkStatus();
  });
}

absl::Status Player::Resync(StripeRange stripes) {
  const uint64_t end = stripes.first + stripes.count;
  for (auto doubt = array_->NextDoubt(stripes.first); doubt.has_value() && doubt->first < end;
       doubt = array_->NextDoubt(doubt->first + doubt->count)) {
    const StripeRange part{doubt->first, std::min(doubt->count, end - doubt->first)};
    const uint64_t begun = array_->DoubtSequence();
    uint64_t skipped = 0;
    MDVOL_RETURN_IF_ERROR(array_->RecomputeParity(part, &skipped));
    array_->EndDoubt(part, begun);
  }
  return absl::OkStatus();
}

absl::Status Player::Repair(StripeRange stripes, RepairMode mode,
                            std::span<const std::byte> content) {
  const uint64_t begin = stripes.first * array_.geometry().stripe_bytes();
  const uint64_t length = stripes.count * array_.geometry().stripe_bytes();
  model_.Write(begin, content.subspan(begin, length), array_.recording().size());
  SyncFindings findings;
  return array_->RepairStripes(stripes, mode, &findings);
}

}  // namespace mdvol::crash
