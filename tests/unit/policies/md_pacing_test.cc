// The kernels' resync_pacing policies, driven through their decisions.

#include "policies/md_pacing.h"

#include <gtest/gtest.h>

#include "policies/md_3_19.h"
#include "policies/md_4_2.h"
#include "policies/md_6_16.h"
#include "tests/unit/policies/pacing_rig.h"

namespace mdvol {
namespace {

using testing::kKib;
using testing::kMib;
using testing::kMs;
using testing::kSecond;
using testing::kSector;
using testing::PacingRig;

constexpr double kDefaultDepth[] = {32};

// Between speed_min and speed_max.
class MdPacingTest : public ::testing::Test {
 protected:
  void RunAtSpeed(uint64_t kib_per_s) {
    rig.Pass(9 * kSecond);  // nine whole seconds and one
    rig.facts.bytes_since_mark = kib_per_s * 10 * kKib;
  }
  // Users' I/O ends on one member.
  void Complete(size_t member, uint64_t sectors) {
    rig.members[member].completed_bytes += sectors * kSector;
  }

  PacingRig rig;
};

TEST_F(MdPacingTest, SpeedIsOverWholeSecondsAndOneMore) {
  rig.facts.bytes_since_mark = 6000 * kKib;
  EXPECT_EQ(MdCurrentSpeed(rig.facts), 6001U);
  rig.Pass(kSecond - 1);
  EXPECT_EQ(MdCurrentSpeed(rig.facts), 6001U);
  rig.Pass(1);
  EXPECT_EQ(MdCurrentSpeed(rig.facts), 3001U);
}

TEST_F(MdPacingTest, BelowSpeedMinNothingHoldsIt) {
  Md319Pacing policy;
  for (int i = 0; i < 7; ++i) {
    Complete(0, 10'000);
    EXPECT_TRUE(rig.Goes(policy)) << i;
  }
}

TEST_F(MdPacingTest, WindowsAreOf256SectorsAndTheCacheHoldsEight) {
  Md319Pacing policy;
  EXPECT_EQ(rig.Ask(policy).window_bytes, 256 * kSector);
  for (int i = 1; i < 8; ++i) {
    EXPECT_TRUE(rig.Goes(policy));
  }
  const ResyncDecision full = rig.Ask(policy);
  EXPECT_GT(full.wait_ns, 0U);
  EXPECT_EQ(full.wait_for_fewer_windows, 8U);
  rig.EndWindow();
  EXPECT_EQ(rig.Ask(policy).wait_ns, kMdJiffyNs);  // the courtesy
  rig.Pass(kMdJiffyNs - 1);
  EXPECT_EQ(rig.Ask(policy).wait_ns, 1U);
  rig.Pass(1);
  EXPECT_TRUE(rig.Goes(policy));
}

TEST_F(MdPacingTest, AStripeLargerThanTheCacheGoesAlone) {
  Md42Pacing policy;
  rig.facts.least_window_bytes = 4 * kMib;
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_EQ(rig.Ask(policy).wait_for_fewer_windows, 1U);
}

TEST_F(MdPacingTest, AboveSpeedMaxAllThreeSleepHalfASecondAndJudgeAgain) {
  Md319Pacing md_3_19;
  Md42Pacing md_4_2;
  Md616Pacing md_6_16(kDefaultDepth);
  for (ResyncPacing* const policy :
       std::initializer_list<ResyncPacing*>{&md_3_19, &md_4_2, &md_6_16}) {
    rig = PacingRig();
    RunAtSpeed(200'001);
    EXPECT_EQ(rig.Ask(*policy).wait_ns, kMdSleepNs);
    rig.Pass(kMdSleepNs - 1);
    EXPECT_EQ(rig.Ask(*policy).wait_ns, 1U);
    rig.Pass(1);
    EXPECT_EQ(rig.Ask(*policy).wait_ns, kMdSleepNs);
    rig.facts.bytes_since_mark /= 2;
    rig.Pass(kMdSleepNs);
    EXPECT_TRUE(rig.Goes(*policy));
  }
}

TEST_F(MdPacingTest, Md319SleepsWhileUsersAreAbout) {
  Md319Pacing policy;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  Complete(2, 65);
  EXPECT_EQ(rig.Ask(policy).wait_ns, kMdSleepNs);
  rig.Pass(kMdSleepNs);
  Complete(1, 65);
  EXPECT_EQ(rig.Ask(policy).wait_ns, kMdSleepNs);
  rig.Pass(kMdSleepNs);
  EXPECT_TRUE(rig.Goes(policy));
}

TEST_F(MdPacingTest, SixtyFourSectorsOnAMemberAreNotYetAUser) {
  Md319Pacing policy;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  for (size_t member = 0; member < 4; ++member) {
    Complete(member, 64);
  }
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  Complete(3, 1);  // they add up as long as the member was not found busy
  EXPECT_EQ(rig.Ask(policy).wait_ns, kMdSleepNs);
}

TEST_F(MdPacingTest, Md42DrainsAndGoesOnWithoutJudging) {
  Md42Pacing policy;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  Complete(0, 256 + 65);
  const ResyncDecision drain = rig.Ask(policy);
  EXPECT_GT(drain.wait_ns, 0U);
  EXPECT_EQ(drain.wait_for_fewer_windows, 1U);
  Complete(0, 1000);
  EXPECT_GT(rig.Ask(policy).wait_ns, 0U);  // still in flight
  rig.EndAll();
  EXPECT_TRUE(rig.Goes(policy));
}

TEST_F(MdPacingTest, Md42IsBlindToUsersBehindWhatItHasInFlight) {
  Md42Pacing policy;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  for (int window = 1; window < 8; ++window) {
    Complete(0, 256);  // as much as the resync issues meanwhile, many times what counts as a user
    EXPECT_TRUE(rig.Goes(policy)) << window;
  }
}

TEST_F(MdPacingTest, ItsOwnIoIsNoUser) {
  Md42Pacing policy;
  RunAtSpeed(5000);
  for (int window = 0; window < 100; ++window) {
    EXPECT_TRUE(rig.Goes(policy));
    rig.EndWindow();
    rig.facts.bytes_since_mark = 50'000 * kKib;
  }
}

TEST_F(MdPacingTest, AnotherRunBeginsAnew) {
  Md42Pacing policy;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  Complete(0, 10'000);
  EXPECT_GT(rig.Ask(policy).wait_ns, 0U);
  const std::vector<ResyncMemberFacts> members = rig.members;
  rig = PacingRig();
  rig.members = members;
  rig.facts.members = rig.members;
  rig.facts.run = 2;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
}

TEST_F(MdPacingTest, MembersMayComeAndGo) {
  Md319Pacing policy;
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  rig.members.push_back({.completed_bytes = 5 * kMib, .sync_issued_bytes = 0});
  rig.facts.members = rig.members;
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  rig.facts.members = {};
  EXPECT_TRUE(rig.Goes(policy));
}

TEST_F(MdPacingTest, WhoMovesIntoThePlaceOfAFailedMemberIsNotBusy) {
  Md319Pacing policy;
  RunAtSpeed(5000);
  Complete(1, 10'000);
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  rig.members.erase(rig.members.begin());
  rig.facts.members = rig.members;
  EXPECT_TRUE(rig.Goes(policy));  // the first of them has 10'000 sectors more than it that was
  rig.EndAll();
  Complete(0, 65);
  EXPECT_EQ(rig.Ask(policy).wait_ns, kMdSleepNs);
}

// One fails and another joins between two judgements.
TEST_F(MdPacingTest, ACounterThatGoesBackIsAnotherMembers) {
  Md319Pacing policy;
  RunAtSpeed(5000);
  Complete(0, 10'000);
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  rig.members[0] = {.completed_bytes = 0, .sync_issued_bytes = 0};
  Complete(1, 10'000);
  EXPECT_TRUE(rig.Goes(policy));
  rig.EndAll();
  Complete(0, 65);
  EXPECT_EQ(rig.Ask(policy).wait_ns, kMdSleepNs);
}

TEST_F(MdPacingTest, Md616SeesOneRequestThroughAllThatIsInFlight) {
  Md616Pacing policy(kDefaultDepth);
  RunAtSpeed(5000);
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_TRUE(rig.Goes(policy));
  rig.Disturbed(1, kMs);
  EXPECT_EQ(rig.Ask(policy).wait_for_fewer_windows, 1U);
  rig.EndAll();
  EXPECT_TRUE(rig.Goes(policy));  // drained: not judged again
  rig.facts.foreground.in_flight = 1;
  EXPECT_EQ(rig.Ask(policy).wait_for_fewer_windows, 1U);
  rig.EndAll();
  EXPECT_TRUE(rig.Goes(policy));
  rig.facts.foreground.in_flight = 0;
  EXPECT_TRUE(rig.Goes(policy));
}

TEST_F(MdPacingTest, Md616LeavesSyncIoDepthLanesInFlight) {
  constexpr double kDepth[] = {96};
  Md616Pacing policy(kDepth);
  RunAtSpeed(5000);
  rig.facts.foreground.in_flight = 1;
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_EQ(rig.Ask(policy).wait_for_fewer_windows, 1U);
}

}  // namespace
}  // namespace mdvol
