// ForegroundMeter: which requests are quiet, which disturbed, and what is in flight.

#include "core/array/foreground_meter.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using testing::FakeClock;

class ForegroundMeterTest : public ::testing::Test {
 protected:
  void Run(uint64_t ns) {
    const ForegroundMeter::Request request(meter_);
    clock_.Advance(ns);
  }

  FakeClock clock_;
  ForegroundMeter meter_{clock_};
};

TEST_F(ForegroundMeterTest, CountsNothingUntilAResyncRunsNorAfterIt) {
  Run(5);
  meter_.Start();
  Run(7);
  meter_.Stop();
  Run(9);
  EXPECT_EQ(meter_.Read().quiet.count, 1U);
  EXPECT_EQ(meter_.Read().quiet.sum_ns, 7U);
}

TEST_F(ForegroundMeterTest, WhatMeetsNoWindowIsQuiet) {
  meter_.Start();
  Run(10);
  meter_.SetDisturbed(true);
  Run(20);
  meter_.SetDisturbed(true);  // another window beside the first
  meter_.SetDisturbed(false);
  Run(40);
  const ResyncForegroundFacts facts = meter_.Read();
  EXPECT_EQ(facts.quiet.count, 2U);
  EXPECT_EQ(facts.quiet.sum_ns, 50U);
  EXPECT_EQ(facts.disturbed.count, 1U);
  EXPECT_EQ(facts.disturbed.sum_ns, 20U);
  EXPECT_EQ(facts.in_flight, 0U);
}

TEST_F(ForegroundMeterTest, AWindowAtAnyTimeDisturbs) {
  meter_.Start();
  for (const bool was_disturbed : {false, true}) {
    meter_.SetDisturbed(was_disturbed);
    const ForegroundMeter::Request across(meter_);
    meter_.SetDisturbed(!was_disturbed);
  }
  {
    meter_.SetDisturbed(false);
    const ForegroundMeter::Request around(meter_);
    meter_.SetDisturbed(true);
    meter_.SetDisturbed(false);
  }
  EXPECT_EQ(meter_.Read().disturbed.count, 3U);
  EXPECT_EQ(meter_.Read().quiet.count, 0U);
}

TEST_F(ForegroundMeterTest, WhatFailsIsNoLatencyAndNotInFlightForEver) {
  meter_.Start();
  {
    ForegroundMeter::Request request(meter_);
    EXPECT_EQ(meter_.Read().in_flight, 1U);
    clock_.Advance(1000);
    request.Failed();
  }
  EXPECT_EQ(meter_.Read().in_flight, 0U);
  EXPECT_EQ(meter_.Read().quiet.count, 0U);
}

TEST_F(ForegroundMeterTest, WhatBeganBeforeStartIsNotSeen) {
  std::optional<ForegroundMeter::Request> early;
  early.emplace(meter_);
  meter_.Start();
  EXPECT_EQ(meter_.Read().in_flight, 0U);
  early.reset();
  EXPECT_EQ(meter_.Read().quiet.count, 0U);
}

TEST_F(ForegroundMeterTest, ANewRunBeginsUndisturbed) {
  meter_.Start();
  meter_.SetDisturbed(true);  // a window that failed
  meter_.Stop();
  meter_.Start();
  Run(3);
  EXPECT_EQ(meter_.Read().quiet.count, 1U);
}

TEST_F(ForegroundMeterTest, AddsUpOverManyThreads) {
  meter_.Start();
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < 500; ++j) {
        const ForegroundMeter::Request request(meter_);
        meter_.Read();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(meter_.Read().quiet.count, 10'000U);
  EXPECT_EQ(meter_.Read().in_flight, 0U);
}

}  // namespace
}  // namespace mdvol
