// resync_pacing "adaptive": its single decisions, and what it makes of modelled disks beside the
// other policies. The criteria P1 to P10 are those of docs/policies.md.

#include "policies/adaptive_pacing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "policies/registry.h"
#include "tests/support/resync/pacing_bound.h"
#include "tests/support/resync/resync_model.h"
#include "tests/unit/policies/pacing_rig.h"

namespace mdvol {
namespace {

using testing::kKib;
using testing::kMib;
using testing::kMs;
using testing::kSecond;
using testing::MostReaderShare;
using testing::MostResyncRate;
using testing::PacingBoundSpec;
using testing::PacingRig;
using testing::ResyncModel;
using testing::ResyncModelSpec;

constexpr double kTenPercent[] = {0.10};
constexpr uint64_t kUs = 1000;

class AdaptivePacingTest : public ::testing::Test {
 protected:
  AdaptivePacingTest() { rig.facts.speed_max = uint64_t{1} << 40; }

  // Users' quiet requests, one after the other, for a while; asks every now and then, and says
  // after how long a window went, if one did.
  uint64_t PassQuietly(uint64_t each_ns, uint64_t most_ns) {
    for (uint64_t passed_ns = 0; passed_ns < most_ns; passed_ns += each_ns) {
      rig.Pass(each_ns);
      rig.Quiet(1, each_ns);
      rig.facts.foreground.in_flight = 1;
      if (rig.Goes(policy)) {
        return passed_ns + each_ns;
      }
    }
    return most_ns;
  }

  AdaptivePacing policy{kTenPercent};
  PacingRig rig;
};

TEST_F(AdaptivePacingTest, AloneItSlidesTwoMebibytesThroughTheMembers) {
  EXPECT_TRUE(rig.Goes(policy));
  EXPECT_TRUE(rig.Goes(policy));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rig.Ask(policy).wait_for_fewer_windows, 2U);
    rig.Pass(2 * kMs);
    rig.EndWindow();
    EXPECT_TRUE(rig.Goes(policy)) << i;
  }
}

TEST_F(AdaptivePacingTest, SeesASingleRequestAndForgetsItAfterATenthOfASecond) {
  EXPECT_TRUE(rig.Goes(policy));
  rig.Pass(2 * kMs);
  rig.EndAll();
  rig.Quiet(1, 100 * kUs);
  EXPECT_FALSE(rig.Goes(policy));
  rig.Pass(99 * kMs);
  rig.EndAll();
  const uint64_t since_ns = rig.facts.now_ns;
  while (!(rig.Goes(policy) && rig.Goes(policy))) {
    rig.EndAll();
    rig.Pass(kMs);
  }
  EXPECT_LE(rig.facts.now_ns - since_ns, 2 * kMs);
}

// A window of 2 ms that makes one request wait for all of it; the others take 100 us.
TEST_F(AdaptivePacingTest, RestsForTheMeasuredCostOverTheShare) {
  rig.facts.foreground.in_flight = 1;
  PassQuietly(100 * kUs, 200 * kMs);  // has gone by the end
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(rig.facts.windows_in_flight, 1U);
    rig.Pass(2 * kMs);
    rig.Disturbed(1, 2 * kMs + 100 * kUs);
    rig.EndAll();
    const uint64_t rest_ns = PassQuietly(100 * kUs, kSecond);
    if (i > 10) {
      EXPECT_NEAR(static_cast<double>(rest_ns), 20.0 * kMs, 1.0 * kMs);
    }
  }
}

TEST_F(AdaptivePacingTest, RestsLessWhenItsWindowsCostLess) {
  PassQuietly(100 * kUs, 200 * kMs);
  for (int i = 0; i < 30; ++i) {
    rig.Pass(2 * kMs);
    rig.Disturbed(10, 150 * kUs);  // half a millisecond in all, one after the other
    rig.EndAll();
    const uint64_t rest_ns = PassQuietly(100 * kUs, kSecond);
    if (i > 20) {
      EXPECT_NEAR(static_cast<double>(rest_ns), 5.5 * kMs - 2.0 * kMs, 0.5 * kMs);
    }
  }
}

TEST_F(AdaptivePacingTest, SpeedMinGoesBeforeTheShareAndSpeedMaxBeforeBoth) {
  rig.facts.foreground.in_flight = 1000;
  rig.Ask(policy);
  rig.Pass(20 * kSecond);  // a window that does not come back
  uint64_t gone = 0;
  while (rig.facts.windows_in_flight < 8 && rig.Goes(policy)) {
    ++gone;
  }
  EXPECT_GE(gone, 3U);
  rig.facts.speed_max = 1;
  EXPECT_FALSE(rig.Goes(policy));
}

TEST_F(AdaptivePacingTest, AbsurdFactsDoNoHarm) {
  rig.facts.members = {};
  rig.facts.speed_min = ~uint64_t{0};
  rig.facts.speed_max = ~uint64_t{0};
  rig.facts.foreground.in_flight = ~uint64_t{0};
  for (int i = 0; i < 1000; ++i) {
    rig.Ask(policy);
    if (i % 7 == 0) {
      rig.EndAll();
    }
    rig.Pass(i % 3 == 0 ? 0 : kMs);
    rig.Quiet(i % 2 == 0 ? 0 : 1, 0);
    rig.Disturbed(1, i % 5 == 0 ? 0 : kSecond);
  }
}

// ---- Modelled disks -----------------------------------------------------------------------------

struct Figures {
  double iops = 0;
  double mib_per_s = 0;
  uint64_t p99_ns = 0;
};

Figures MeasureFor(ResyncModel& model, uint64_t seconds) {
  const ResyncModel::Counts before = model.counts();
  model.TakeLatencies();
  model.Run(seconds * kSecond);
  const ResyncModel::Counts after = model.counts();
  std::vector<uint64_t> latencies = model.TakeLatencies();
  std::sort(latencies.begin(), latencies.end());
  const auto span = static_cast<double>(seconds);
  return {.iops = static_cast<double>(after.requests - before.requests) / span,
          .mib_per_s = static_cast<double>(after.sync_bytes - before.sync_bytes) / span / kMib,
          .p99_ns = latencies.empty() ? 0 : latencies[latencies.size() * 99 / 100]};
}

std::unique_ptr<ResyncPacing> Make(const std::string& name, double share = 0.10) {
  static const Registry registry;
  const PolicyEntry& entry = *registry.Find(PolicyFamily::kResyncPacing, name);
  std::vector<double> numbers;
  for (const PolicyOptionInfo& option : entry.options) {
    numbers.push_back(option.standard);
  }
  if (name == "adaptive") {
    numbers[0] = share;
  }
  return std::unique_ptr<ResyncPacing>(static_cast<ResyncPacing*>(entry.make(numbers).release()));
}

struct Disk {
  const char* name;
  DiskModelParameters parameters;
  double least_qd1;  // of solo
  double least_mib_per_s;
};

const Disk kDisks[] = {{"ssd", kSsdModel, 0.90, 20}, {"hdd", kHddModel, 0.80, 5}};

Figures Measure(const Disk& disk, uint32_t jobs, const std::string& policy, double share = 0.10) {
  const auto pacing = policy.empty() ? nullptr : Make(policy, share);
  ResyncModel model({.disk = disk.parameters, .jobs = jobs}, pacing.get());
  model.Run(3 * kSecond);
  return MeasureFor(model, 20);
}

TEST(ModelledPacingTest, AdaptiveLeavesUsersTheirShareAndStillGetsOn) {
  for (const Disk& disk : kDisks) {
    for (const uint32_t jobs : {1U, 64U}) {
      const Figures solo = Measure(disk, jobs, "");
      const Figures beside = Measure(disk, jobs, "adaptive");
      EXPECT_GE(beside.iops / solo.iops, jobs == 1 ? disk.least_qd1 : 0.93) << disk.name << jobs;
      EXPECT_GE(beside.mib_per_s, disk.least_mib_per_s) << disk.name << jobs;
      if (jobs == 1 && disk.parameters == kSsdModel) {
        EXPECT_LE(beside.p99_ns, 2 * solo.p99_ns);
      } else if (jobs == 1) {
        EXPECT_LE(beside.p99_ns, solo.p99_ns + 14 * kMs);  // a seek and a mebibyte
      }
    }
  }
}

TEST(ModelledPacingTest, AdaptiveDominatesMd42AtItsOwnSpeed) {
  for (const Disk& disk : kDisks) {
    const double solo = Measure(disk, 1, "").iops;
    const Figures md_4_2 = Measure(disk, 1, "md-4.2");
    double share = 0.1;
    Figures beside = Measure(disk, 1, "adaptive", share);
    while (share < 100 && beside.mib_per_s < 0.98 * md_4_2.mib_per_s) {
      share *= 1.1;
      beside = Measure(disk, 1, "adaptive", share);
    }
    const double bound = MostReaderShare({.disk = disk.parameters}, beside.mib_per_s * kMib) * solo;
    EXPECT_GE(beside.mib_per_s, 0.98 * md_4_2.mib_per_s) << disk.name;
    EXPECT_GE(beside.iops, std::min(3 * md_4_2.iops, 0.9 * bound)) << disk.name << ' ' << share;
  }
}

TEST(ModelledPacingTest, AdaptiveComesCloseToTheBound) {
  for (const Disk& disk : kDisks) {
    const double solo = Measure(disk, 1, "").iops;
    for (const double share : {0.05, 0.1, 0.2}) {
      const Figures beside = Measure(disk, 1, "adaptive", share);
      const double bound = MostResyncRate({.disk = disk.parameters}, beside.iops / solo) / kMib;
      EXPECT_GE(beside.mib_per_s, 0.8 * bound) << disk.name << ' ' << share;
      EXPECT_LE(beside.mib_per_s, 1.25 * bound) << disk.name << ' ' << share;
    }
  }
}

TEST(PacingBoundTest, ItsTwoFormsAreOne) {
  for (const Disk& disk : kDisks) {
    for (const double share : {0.2, 0.5, 0.9}) {
      const PacingBoundSpec spec{.disk = disk.parameters};
      const double rate = MostResyncRate(spec, share);
      EXPECT_NEAR(MostReaderShare(spec, rate), share, 1e-9) << disk.name;
      EXPECT_GT(MostResyncRate(spec, share - 0.01), rate);
    }
  }
}

// b = 2.197 ms, S = 108 us, c = 100 us; b = 13.825 ms, S = 8.022 ms, n = 4.
TEST(PacingBoundTest, IsWhatTheDerivationSays) {
  const PacingBoundSpec spec{.disk = kSsdModel};
  EXPECT_NEAR(MostReaderShare(spec, 20.0 * kMib), 1 - 20 * 1.9890e-3, 1e-5);
  EXPECT_NEAR(MostReaderShare({.disk = kHddModel}, 20.0 * kMib), 1 - 20 * 7.808e-3, 1e-3);
}

TEST(ModelledPacingTest, MoreShareIsMoreResync) {
  for (const Disk& disk : kDisks) {
    double last = 0;
    for (const double share : {0.03, 0.1, 0.3, 1.0, 3.0, 30.0}) {
      const Figures beside = Measure(disk, 1, "adaptive", share);
      EXPECT_GT(beside.mib_per_s, last * 0.99) << disk.name << ' ' << share;
      last = beside.mib_per_s;
    }
  }
}

TEST(ModelledPacingTest, TheKernelsDoWhatTheReportsSay) {
  const Disk& ssd = kDisks[0];
  const Figures solo = Measure(ssd, 1, "");
  const Figures md_3_19 = Measure(ssd, 1, "md-3.19");
  EXPECT_GE(md_3_19.iops, 0.90 * solo.iops);
  EXPECT_LE(md_3_19.mib_per_s, 2);
  EXPECT_LE(Measure(ssd, 1, "md-4.2").iops, 0.10 * solo.iops);
  EXPECT_GE(Measure(ssd, 64, "md-4.2").iops, 0.70 * Measure(ssd, 64, "").iops);
  const Figures md_6_16 = Measure(ssd, 1, "md-6.16");
  EXPECT_NEAR(md_6_16.iops / solo.iops, 0.30, 0.03);  // one read in each burst of 362 us
}

TEST(ModelledPacingTest, AloneEveryPolicyIsAsFastAsTheDisks) {
  for (const char* const policy : {"adaptive", "md-3.19", "md-4.2", "md-6.16", "unthrottled"}) {
    EXPECT_GE(Measure(kDisks[0], 0, policy).mib_per_s, 0.95 * 5e8 / kMib) << policy;
    EXPECT_GE(Measure(kDisks[1], 0, policy).mib_per_s, 0.95 * 1.8e8 / kMib) << policy;
  }
}

TEST(ModelledPacingTest, SpeedMinIsKeptUnderAnyLoad) {
  for (const Disk& disk : kDisks) {
    for (const uint32_t jobs : {1U, 64U, 256U}) {
      const auto policy = Make("adaptive", 0.01);
      ResyncModelSpec spec{.disk = disk.parameters, .jobs = jobs};
      ResyncModel model(spec, policy.get());
      model.Run(5 * kSecond);
      std::vector<uint64_t> done{model.counts().sync_bytes};  // every 100 ms
      for (int i = 0; i < 300; ++i) {
        model.Run(100 * kMs);
        done.push_back(model.counts().sync_bytes);
        if (done.size() > 30) {
          EXPECT_GE(done.back() - done[done.size() - 31], 3 * spec.speed_min)
              << disk.name << ' ' << jobs << ' ' << i;
        }
      }
    }
  }
}

TEST(ModelledPacingTest, ReactsWithinATenthAndTwoTenthsOfASecond) {
  for (const Disk& disk : kDisks) {
    const double solo = Measure(disk, 1, "").iops;
    const double alone = Measure(disk, 0, "adaptive").mib_per_s;
    const auto policy = Make("adaptive");
    ResyncModel model({.disk = disk.parameters, .jobs = 0}, policy.get());
    model.Run(5 * kSecond);
    for (int i = 0; i < 5; ++i) {
      model.SetJobs(1);
      model.Run(100 * kMs);
      EXPECT_GE(MeasureFor(model, 1).iops, disk.least_qd1 * solo) << disk.name;
      model.SetJobs(0);
      model.Run(200 * kMs);
      EXPECT_GE(MeasureFor(model, 1).mib_per_s, 0.95 * alone) << disk.name;
    }
  }
}

TEST(ModelledPacingTest, ObeysSpeedMaxWithoutLongGaps) {
  for (const uint64_t mib : {8U, 40U, 150U}) {
    const auto policy = Make("adaptive");
    ResyncModelSpec spec{.disk = kSsdModel, .jobs = 0};
    spec.speed_max = mib * kMib;
    ResyncModel model(spec, policy.get());
    model.Run(kSecond);
    for (int second = 0; second < 10; ++second) {
      const auto wanted = static_cast<double>(mib);
      EXPECT_NEAR(MeasureFor(model, 1).mib_per_s, wanted, 0.02 * wanted);
    }
    const std::vector<uint64_t> ends = model.TakeWindowEnds();
    for (size_t i = 1; i < ends.size(); ++i) {
      ASSERT_LE(ends[i] - ends[i - 1], 50 * kMs);
    }
  }
}

TEST(ModelledPacingTest, AloneItNeverDrains) {
  const auto policy = Make("adaptive");
  ResyncModel model({.disk = kSsdModel, .jobs = 0}, policy.get());
  model.Run(kSecond);
  model.TakeLeastInFlight();
  model.Run(kSecond);
  EXPECT_GE(model.TakeLeastInFlight(), 1U);
}

TEST(ModelledPacingTest, UsersThatPauseAreSpared) {
  for (const Disk& disk : kDisks) {
    ResyncModelSpec spec{.disk = disk.parameters, .jobs = 1};
    spec.think_ns = 20 * kMs;
    ResyncModel solo(spec, nullptr);
    solo.Run(20 * kSecond);
    const auto policy = Make("adaptive");
    ResyncModel model(spec, policy.get());
    model.Run(20 * kSecond);
    const auto mean = [](const ResyncModel& of) {
      return static_cast<double>(of.counts().latency_ns) /
             static_cast<double>(of.counts().requests);
    };
    EXPECT_LE(mean(model), 1.4 * mean(solo)) << disk.name;
    EXPECT_GE(static_cast<double>(model.counts().sync_bytes), 20.0 * 20 * kMib) << disk.name;
  }
}

}  // namespace
}  // namespace mdvol
