// StripeEngine::RecoverStripes: what belongs into a slot, from its member or from the rest, onto
// another device, exactly; while others read and write; and what becomes of what cannot be told.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::HookDevice;
using testing::Prng;
using testing::RigOptions;
using testing::StripeRig;
using testing::TestSeed;

constexpr uint64_t kChunk = 2 * kLaneBytes;
constexpr uint64_t kTargetOffset = 8 * kLaneBytes;

// A device that is to be filled: full of 0xAA, with a hook and faults.
class Target {
 public:
  explicit Target(const ArrayGeometry& geometry) : component_bytes_(geometry.component_bytes()) {
    auto memory = NewMemoryDevice("target", kTargetOffset + component_bytes_ + kLaneBytes);
    memory_ = memory.get();
    const std::vector<std::byte> poison(memory_->size_bytes(), std::byte{0xaa});
    EXPECT_TRUE(WriteMember(*memory_, 0, poison.data(), poison.size()).ok());
    auto fault = NewFaultDevice(std::move(memory), 1, clock_);
    fault_ = fault.get();
    hook_ = std::make_unique<HookDevice>(std::move(fault));
  }

  HookDevice& device() { return *hook_; }
  FaultDevice& fault() { return *fault_; }

  RecoverTarget For(uint32_t slot, uint64_t from_bytes = 0) {
    return {.slot = slot,
            .device = hook_.get(),
            .data_offset_bytes = kTargetOffset,
            .from_bytes = from_bytes};
  }

  std::vector<std::byte> DataArea() const { return Bytes(kTargetOffset, component_bytes_); }
  std::vector<std::byte> Bytes(uint64_t offset, uint64_t length) const {
    std::vector<std::byte> bytes(length);
    EXPECT_TRUE(ReadMember(*memory_, offset, bytes.data(), length).ok());
    return bytes;
  }
  // Nothing but its data area has been written.
  bool IsCleanOutside() const {
    const auto is_poison = [](const std::vector<std::byte>& bytes) {
      return std::all_of(bytes.begin(), bytes.end(),
                         [](std::byte b) { return b == std::byte{0xaa}; });
    };
    return is_poison(Bytes(0, kTargetOffset)) &&
           is_poison(Bytes(kTargetOffset + component_bytes_, kLaneBytes));
  }

 private:
  const uint64_t component_bytes_;
  testing::FakeClock clock_;
  MemberDevice* memory_;
  FaultDevice* fault_;
  std::unique_ptr<HookDevice> hook_;
};

struct Outcome : EngineResult {
  RecoverResult recovered;
  int releases = 0;
};

Outcome Recover(StripeRig& rig, std::vector<RecoverTarget> targets, uint64_t first,
                uint64_t count) {
  Outcome outcome;
  static_cast<EngineResult&>(outcome) = rig.engine().RecoverStripes(
      rig.view(), first, count, targets, &outcome.recovered, [&outcome] { ++outcome.releases; });
  return outcome;
}

Outcome RecoverAll(StripeRig& rig, std::vector<RecoverTarget> targets) {
  return Recover(rig, std::move(targets), 0, rig.geometry().stripe_count());
}

class RecoverTest : public ::testing::TestWithParam<Layout> {};

TEST_P(RecoverTest, RebuildsEveryMemberAndEveryPair) {
  for (uint32_t members = 4; members <= 7; ++members) {
    for (uint32_t a = 0; a < members; ++a) {
      for (uint32_t b = a; b < members; ++b) {
        StripeRig rig({.layout = GetParam(),
                       .members = members,
                       .chunk_bytes = kChunk,
                       .stripes = members,
                       .alignment_bytes = a % 2 == 0 ? 4096u : 1u,
                       .seed = members * 100 + a * 10 + b});
        Target first(rig.geometry());
        Target second(rig.geometry());
        rig.Lose(a);
        rig.Lose(b);
        std::vector<RecoverTarget> targets = {first.For(a)};
        if (b != a) {
          targets.push_back(second.For(b));
        }
        rig.TakeTraffic();
        const Outcome outcome = RecoverAll(rig, targets);
        EXPECT_EQ(outcome.error, 0);
        EXPECT_EQ(outcome.releases, 1);
        EXPECT_TRUE(outcome.recovered.lost.empty() && outcome.recovered.target_errors.empty());
        ASSERT_EQ(first.DataArea(), rig.DataArea(a)) << members << ": " << a << ", " << b;
        ASSERT_TRUE(b == a || second.DataArea() == rig.DataArea(b)) << members << ": " << a << b;
        EXPECT_TRUE(first.IsCleanOutside() && second.IsCleanOutside());
        const StripeRig::Traffic traffic = rig.TakeTraffic();
        EXPECT_EQ(traffic.writes, 0u);
        EXPECT_EQ(traffic.read_bytes, (members - 2) * rig.geometry().component_bytes())
            << "reads what it does not need";
      }
    }
  }
}

std::string TestName(const ::testing::TestParamInfo<Layout>& layout) {
  std::string name(LayoutName(layout.param));
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(Layouts, RecoverTest, ::testing::ValuesIn(AllLayouts()), TestName);

RigOptions SixMembers() {
  return {.layout = Layout::kLeftSymmetric,
          .members = 6,
          .chunk_bytes = kChunk,
          .stripes = 20,
          .seed = 5};
}

// ---- Replacing ----

TEST(RecoverReplaceTest, AMemberThatCanBeReadIsCopied) {
  StripeRig rig(SixMembers());
  Target target(rig.geometry());
  rig.TakeTraffic();
  const Outcome outcome = RecoverAll(rig, {target.For(2)});
  EXPECT_EQ(target.DataArea(), rig.DataArea(2));
  EXPECT_EQ(rig.TrafficOf(2).read_bytes, rig.geometry().component_bytes());
  EXPECT_EQ(rig.TakeTraffic().read_bytes, rig.geometry().component_bytes());
}

// Where it cannot be read the rest makes up for it, lane by lane; and the member is mended.
TEST(RecoverReplaceTest, WhatCannotBeReadIsReconstructed) {
  for (uint32_t slot = 0; slot < 6; ++slot) {
    StripeRig rig(SixMembers());
    Target target(rig.geometry());
    const auto right = rig.DataArea(slot);
    rig.AddBadBlocks(slot, 3 * kChunk + 512, 3 * kChunk + 1024);
    rig.Scribble(slot, 7 * kChunk, 7 * kChunk + kLaneBytes);
    rig.fault(slot).AddRule({.op = FaultOp::kRead,
                             .kind = FaultKind::kError,
                             .offset_bytes = rig.DataOffset(slot) + 7 * kChunk,
                             .length_bytes = 512,
                             .until = FaultUntil::kWrite});
    const Outcome outcome = RecoverAll(rig, {target.For(slot)});
    EXPECT_EQ(target.DataArea(), right);
    EXPECT_TRUE(outcome.recovered.lost.empty());
    ASSERT_EQ(outcome.mended_slots.size(), 1u);
    EXPECT_EQ(outcome.mended_slots[0], slot);
    EXPECT_TRUE(rig.MembersAgree());
  }
}

// ---- Sources in trouble ----

TEST(RecoverTroubleTest, AReadErrorInASourceIsMadeUpForByTheOtherParity) {
  for (uint32_t bad = 1; bad < 6; ++bad) {
    StripeRig rig(SixMembers());
    Target target(rig.geometry());
    rig.Lose(0);
    rig.fault(bad).AddRule({.op = FaultOp::kRead,
                            .kind = FaultKind::kError,
                            .offset_bytes = rig.DataOffset(bad) + 4 * kChunk + 1000,
                            .length_bytes = 20000});
    const Outcome outcome = RecoverAll(rig, {target.For(0)});
    EXPECT_TRUE(outcome.recovered.lost.empty());
    EXPECT_EQ(target.DataArea(), rig.DataArea(0));
  }
}

// Three lost: a hole of these columns alone, nothing is written there, and the rest goes on.
TEST(RecoverTroubleTest, WhatThreeHaveLostIsAHole) {
  StripeRig rig(SixMembers());
  Target target(rig.geometry());
  const auto right = rig.DataArea(0);
  rig.Lose(0);
  rig.Lose(3);
  rig.AddBadBlocks(5, 6 * kChunk + kLaneBytes, 7 * kChunk + 512);
  const Outcome outcome = RecoverAll(rig, {target.For(0)});
  EXPECT_EQ(outcome.releases, 1);
  ASSERT_EQ(outcome.recovered.lost.size(), 1u);
  const RecoverResult::Hole& hole = outcome.recovered.lost[0];
  EXPECT_EQ(hole.slot, 0u);
  EXPECT_EQ(hole.begin_bytes, 6 * kChunk + kLaneBytes);
  EXPECT_EQ(hole.end_bytes, 7 * kChunk + 512);
  const auto filled = target.DataArea();
  for (uint64_t at = 0; at < filled.size(); ++at) {
    const bool in_hole = at >= hole.begin_bytes && at < hole.end_bytes;
    ASSERT_EQ(filled[at], in_hole ? std::byte{0xaa} : right[at]) << at;
  }
}

// What reads return is what is written: parity that owes says nothing that Q does not confirm.
TEST(RecoverTroubleTest, WhatIsOwedIsNotGuessed) {
  StripeRig rig(SixMembers());
  const StripeRoles roles = rig.geometry().RolesOf(1);
  const auto refuse = [&](uint32_t slot, uint64_t nth) {
    rig.fault(slot).AddRule(
        {.op = FaultOp::kWrite, .kind = FaultKind::kError, .error_number = ENOSPC, .nth = nth});
  };
  refuse(roles.DataSlot(1), 0);
  refuse(roles.p_slot(), 2);
  refuse(roles.q_slot(), 2);
  const std::vector<std::byte> data(3 * kChunk, std::byte{0xcd});
  const uint64_t stripe_bytes = 4 * kChunk;
  ASSERT_EQ(rig.engine().Write(rig.view(), stripe_bytes, data).owed_stripes.size(), 1u);
  Target target(rig.geometry());
  rig.Lose(roles.DataSlot(0));
  const Outcome outcome = RecoverAll(rig, {target.For(roles.DataSlot(0))});
  ASSERT_FALSE(outcome.recovered.lost.empty());
  EXPECT_EQ(outcome.recovered.lost[0].begin_bytes, kChunk);
  EXPECT_EQ(outcome.recovered.lost[0].end_bytes, 2 * kChunk);
}

TEST(RecoverTroubleTest, ATargetThatFailsIsReportedAndTheOtherFilled) {
  StripeRig rig(SixMembers());
  Target first(rig.geometry());
  Target second(rig.geometry());
  rig.Lose(1);
  rig.Lose(4);
  first.fault().AddRule({.op = FaultOp::kWrite,
                         .kind = FaultKind::kError,
                         .error_number = ENOSPC,
                         .offset_bytes = kTargetOffset + 5 * kChunk,
                         .length_bytes = 512});
  Outcome outcome = RecoverAll(rig, {first.For(1), second.For(4)});
  EXPECT_EQ(outcome.error, 0);
  EXPECT_TRUE(outcome.member_errors.empty());
  EXPECT_EQ(outcome.releases, 0) << "the checkpoint was moved";
  ASSERT_EQ(outcome.recovered.target_errors.size(), 1u);
  EXPECT_EQ(outcome.recovered.target_errors[0], std::make_pair(size_t{0}, int{ENOSPC}));
  EXPECT_EQ(second.DataArea(), rig.DataArea(4));
}

// What is valid already is not written again, but for the unit that the edge is in.
TEST(RecoverTroubleTest, BeginsWhereTheTargetEnds) {
  StripeRig rig(SixMembers());
  rig.Lose(2);
  for (const uint64_t from : {uint64_t{0}, 3 * kChunk, 3 * kChunk + 700, 4 * kChunk - 1}) {
    Target target(rig.geometry());
    Recover(rig, {target.For(2, from)}, 2, 5);
    const auto right = rig.DataArea(2);
    const auto filled = target.DataArea();
    for (uint64_t at = 0; at < filled.size(); ++at) {
      const bool is_filled =
          at >= std::max(2 * kChunk, RoundDown(from, kSectorBytes)) && at < 7 * kChunk;
      ASSERT_EQ(filled[at], is_filled ? right[at] : std::byte{0xaa}) << from << ": " << at;
    }
  }
}

// ---- While others use the array ----

// The member is in the view, good up to a checkpoint that moves with the rebuild. Beyond it nothing
// is ever read; writes on both sides of it end up right. Then it is a member like any other.
TEST(RecoverLiveTest, ARebuildUnderReadsAndWritesEndsWithAMemberThatAgrees) {
  Prng prng(TestSeed("RecoverLive"));
  RigOptions options = SixMembers();
  options.stripes = 64;
  options.seed = prng.Next();
  StripeRig rig(options);
  const uint32_t slot = 2;
  std::atomic<uint64_t> checkpoint = 0;
  rig.BeginRecovery(slot, 0);
  rig.view().slots[slot].checkpoint = &checkpoint;
  std::atomic<bool> was_poison_read = false;
  rig.hook(slot).set_hook([&](const IoRequest& request) {
    if (request.kind == IoKind::kRead &&
        request.offset_bytes - rig.DataOffset(slot) + request.length_bytes > checkpoint) {
      was_poison_read = true;
    }
  });
  const RecoverTarget target{.slot = slot,
                             .device = rig.view().slots[slot].device,
                             .data_offset_bytes = rig.DataOffset(slot),
                             .from_bytes = 0};
  std::atomic<bool> done = false;
  std::thread rebuild([&] {
    for (uint64_t first = 0; first < 64; first += 2) {
      RecoverResult recovered;
      rig.engine().RecoverStripes(rig.view(), first, 2, std::span(&target, 1), &recovered,
                                  [&] { checkpoint = (first + 2) * kChunk; });
      EXPECT_TRUE(recovered.lost.empty() && recovered.target_errors.empty());
      std::this_thread::yield();
    }
    done = true;
  });
  while (!done) {
    const uint64_t length = prng.Between(1, 3 * kChunk);
    const uint64_t offset = prng.Below(rig.geometry().volume_bytes() - length);
    if (prng.OneIn(2)) {
      EXPECT_EQ(rig.Write(offset, length).error, 0);
    } else {
      EXPECT_EQ(rig.Read(offset, length).error, 0);
    }
  }
  rebuild.join();
  EXPECT_FALSE(was_poison_read);
  rig.view().slots[slot].checkpoint = nullptr;
  rig.view().slots[slot].valid_bytes = rig.geometry().component_bytes();
  EXPECT_TRUE(rig.MembersAgree());
}

// The stripes are held until the checkpoint has been moved.
TEST(RecoverLiveTest, AllStripesAreLedUntilTheCheckpointHasMoved) {
  StripeRig rig(SixMembers());
  Target target(rig.geometry());
  rig.Lose(2);
  RecoverResult recovered;
  const RecoverTarget wanted = target.For(2);
  bool was_called = false;
  rig.engine().RecoverStripes(rig.view(), 3, 4, std::span(&wanted, 1), &recovered, [&] {
    was_called = true;
    for (uint64_t stripe = 0; stripe < 10; ++stripe) {
      const bool is_free = rig.engine().locks().TryLead(stripe);
      EXPECT_EQ(is_free, stripe < 3 || stripe >= 7);
      if (is_free) {
        rig.engine().locks().Finish(stripe, {}, nullptr);
      }
    }
  });
  EXPECT_TRUE(was_called);
  EXPECT_TRUE(rig.engine().locks().TryLead(3));
  rig.engine().locks().Finish(3, {}, nullptr);
}

// More than a window at once, and chunks larger than a window's share.
TEST(RecoverSizeTest, HugeChunksAndManyMembers) {
  struct Size {
    uint32_t members;
    uint64_t chunk_bytes;
    uint64_t stripes;
  };
  for (const Size& size : {Size{4, 4 * kMiB, 2}, Size{80, kMiB, 1}, Size{5, 64 * kKiB, 40}}) {
    StripeRig rig({.layout = Layout::kRightAsymmetric,
                   .members = size.members,
                   .chunk_bytes = size.chunk_bytes,
                   .stripes = size.stripes,
                   .seed = 3});
    Target target(rig.geometry());
    rig.Lose(1);
    const Outcome outcome = RecoverAll(rig, {target.For(1)});
    EXPECT_EQ(outcome.releases, 1);
    EXPECT_TRUE(target.DataArea() == rig.DataArea(1)) << size.members;
  }
}

}  // namespace
}  // namespace mdvol
