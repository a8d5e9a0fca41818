// Which requests a rule meets, what it decides, and what is left of it after writes.

#include "core/device/fault_rules.h"

#include <gtest/gtest.h>

#include <bitset>
#include <cerrno>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

constexpr uint64_t kSizeBytes = kMiB;
constexpr uint64_t kToTheEnd = std::numeric_limits<uint64_t>::max();

IoRequest RequestOf(IoKind kind, uint64_t offset_bytes = 0, uint64_t length_bytes = 4096) {
  IoRequest request;
  request.kind = kind;
  request.offset_bytes = offset_bytes;
  request.length_bytes = length_bytes;
  return request;
}

// Whether a rule of one kind fires on a request, as the only rule.
bool Fires(const FaultRule& rule, const IoRequest& request) {
  FaultRules rules(1, kSizeBytes);
  rules.Add(rule);
  rules.Meet(request);
  return rules.fired_count() == 1;
}

std::vector<FaultRange> Left(const FaultRules& rules) {
  std::vector<FaultRange> left;
  for (const FaultRule& rule : rules.List()) {
    left.push_back({rule.offset_bytes, rule.offset_bytes + rule.length_bytes});
  }
  return left;
}

TEST(FaultRulesTest, EveryOpMatchesItsKindsOfRequest) {
  const std::vector<std::pair<FaultOp, std::string>> expected = {{FaultOp::kRead, "R"},
                                                                 {FaultOp::kWrite, "WZ"},
                                                                 {FaultOp::kFlush, "F"},
                                                                 {FaultOp::kAny, "RWFZ"}};
  for (const auto& [op, kinds] : expected) {
    std::string matched;
    for (const auto& [kind, letter] : std::vector<std::pair<IoKind, char>>{{IoKind::kRead, 'R'},
                                                                           {IoKind::kWrite, 'W'},
                                                                           {IoKind::kFlush, 'F'},
                                                                           {IoKind::kZero, 'Z'}}) {
      if (Fires({.op = op}, RequestOf(kind))) {
        matched += letter;
      }
    }
    EXPECT_EQ(matched, kinds) << static_cast<int>(op);
  }
}

TEST(FaultRulesTest, EveryKindHappensToWhatItCanHappenTo) {
  const std::vector<std::pair<FaultKind, std::string>> expected = {{FaultKind::kError, "RWFZ"},
                                                                   {FaultKind::kDelay, "RWFZ"},
                                                                   {FaultKind::kCorrupt, "RWZ"},
                                                                   {FaultKind::kDrop, "WFZ"},
                                                                   {FaultKind::kTorn, "WZ"}};
  for (const auto& [kind, kinds] : expected) {
    std::string matched;
    for (const auto& [request, letter] :
         std::vector<std::pair<IoKind, char>>{{IoKind::kRead, 'R'},
                                              {IoKind::kWrite, 'W'},
                                              {IoKind::kFlush, 'F'},
                                              {IoKind::kZero, 'Z'}}) {
      if (Fires({.kind = kind}, RequestOf(request))) {
        matched += letter;
      }
    }
    EXPECT_EQ(matched, kinds) << static_cast<int>(kind);
  }
}

TEST(FaultRulesTest, MatchesRequestsThatTouchTheRange) {
  const FaultRule rule = {.offset_bytes = 4096, .length_bytes = 10};
  EXPECT_FALSE(Fires(rule, RequestOf(IoKind::kRead, 0, 4096)));
  EXPECT_TRUE(Fires(rule, RequestOf(IoKind::kRead, 0, 4097)));
  EXPECT_TRUE(Fires(rule, RequestOf(IoKind::kRead, 4105, 1)));
  EXPECT_FALSE(Fires(rule, RequestOf(IoKind::kRead, 4106, 4096)));
  EXPECT_FALSE(Fires(rule, RequestOf(IoKind::kRead, 4100, 0)));
  EXPECT_TRUE(Fires({.offset_bytes = 4096, .length_bytes = kToTheEnd},
                    RequestOf(IoKind::kRead, kSizeBytes - 1, 1)));
}

TEST(FaultRulesTest, RequestsBeyondTheMemberAreLeftToTheDevice) {
  EXPECT_FALSE(Fires({}, RequestOf(IoKind::kRead, kSizeBytes, 4096)));
  EXPECT_FALSE(Fires({.kind = FaultKind::kCorrupt}, RequestOf(IoKind::kZero, kToTheEnd - 5, 3)));
}

TEST(FaultRulesTest, FlushesAreMatchedByFlushRulesAndWholeMemberRules) {
  const IoRequest flush = RequestOf(IoKind::kFlush, 0, 0);
  EXPECT_TRUE(Fires({.op = FaultOp::kFlush, .offset_bytes = 4096, .length_bytes = 1}, flush));
  EXPECT_TRUE(Fires({.length_bytes = kSizeBytes}, flush));
  EXPECT_FALSE(Fires({.length_bytes = kSizeBytes - 1}, flush));
  EXPECT_FALSE(Fires({.offset_bytes = 1}, flush));
}

TEST(FaultRulesTest, TheNthRuleFiresOnceOnTheNthMatch) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.op = FaultOp::kRead, .offset_bytes = 0, .length_bytes = 4096, .nth = 3});
  std::string fired;
  for (int i = 0; i < 6; ++i) {
    rules.Meet(RequestOf(IoKind::kWrite));
    rules.Meet(RequestOf(IoKind::kRead, 4096));
    fired += rules.Meet(RequestOf(IoKind::kRead)).error == EIO ? '1' : '0';
  }
  EXPECT_EQ(fired, "001000");
  EXPECT_EQ(rules.fired_count(), 1u);
}

TEST(FaultRulesTest, ProbabilitiesFollowTheSeed) {
  const auto draw = [](uint64_t seed) {
    FaultRules rules(seed, kSizeBytes);
    rules.Add({.probability = 0.25});
    std::vector<bool> fired;
    for (int i = 0; i < 4000; ++i) {
      fired.push_back(!rules.Meet(RequestOf(IoKind::kRead)).IsNone());
    }
    return fired;
  };
  const std::vector<bool> first = draw(1);
  EXPECT_EQ(first, draw(1));
  EXPECT_NE(first, draw(2));
  // The sequence is fixed, so this is a fact about seed 1, not a chance.
  const auto count = std::count(first.begin(), first.end(), true);
  EXPECT_GT(count, 900);
  EXPECT_LT(count, 1100);
  EXPECT_FALSE(Fires({.probability = 0}, RequestOf(IoKind::kRead)));
}

TEST(FaultRulesTest, AnNthRuleDrawsForEveryMatch) {
  // A second rule sees the same numbers whatever the nth of the first is.
  const auto fired_of_second = [](uint64_t nth) {
    FaultRules rules(9, kSizeBytes);
    rules.Add({.kind = FaultKind::kDelay, .nth = nth, .probability = 0.5, .delay_ns = 1});
    rules.Add({.probability = 0.5});
    std::vector<int> errors;
    for (int i = 0; i < 100; ++i) {
      errors.push_back(rules.Meet(RequestOf(IoKind::kRead)).error);
    }
    return errors;
  };
  EXPECT_EQ(fired_of_second(0), fired_of_second(7));
}

TEST(FaultRulesTest, CombinesTheRulesThatFire) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.kind = FaultKind::kDelay, .delay_ns = 5});
  rules.Add({.kind = FaultKind::kError, .error_number = ENOSPC});
  rules.Add({.kind = FaultKind::kDelay, .delay_ns = 9});
  rules.Add({.kind = FaultKind::kError, .error_number = EIO});
  rules.Add({.kind = FaultKind::kTorn});
  rules.Add({.kind = FaultKind::kDrop});
  rules.Add({.kind = FaultKind::kDelay, .delay_ns = 7});
  const FaultEffect effect = rules.Meet(RequestOf(IoKind::kWrite));
  EXPECT_EQ(effect.error, ENOSPC);
  EXPECT_EQ(effect.delay_ns, 9u);
  EXPECT_TRUE(effect.is_torn);
  EXPECT_TRUE(effect.is_dropped);
  EXPECT_FALSE(effect.IsNone());
  EXPECT_EQ(rules.fired_count(), 7u);
  rules.Clear();
  EXPECT_EQ(rules.size(), 0u);
  EXPECT_TRUE(rules.Meet(RequestOf(IoKind::kWrite)).IsNone());
}

TEST(FaultRulesTest, FlipsOneBitInEverySector) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.kind = FaultKind::kCorrupt});
  const FaultEffect effect = rules.Meet(RequestOf(IoKind::kRead, 8192, 16384));
  ASSERT_EQ(effect.flips.size(), 32u);
  std::set<uint64_t> positions;
  for (size_t i = 0; i < effect.flips.size(); ++i) {
    EXPECT_EQ(effect.flips[i].offset_bytes / 512, 16 + i);
    EXPECT_EQ(std::bitset<8>(std::to_integer<unsigned>(effect.flips[i].mask)).count(), 1u);
    positions.insert(effect.flips[i].offset_bytes % 512);
  }
  EXPECT_GT(positions.size(), 16u);  // not always the same place
}

TEST(FaultRulesTest, FlipsDependOnTheSectorNotOnTheRequest) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.kind = FaultKind::kCorrupt});
  const std::vector<BitFlip> whole = rules.Meet(RequestOf(IoKind::kRead, 0, 65536)).flips;
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kRead, 0, 65536)).flips, whole);
  std::vector<BitFlip> pieces;
  for (uint64_t offset_bytes = 0; offset_bytes < 65536; offset_bytes += 100) {
    const uint64_t length_bytes = std::min<uint64_t>(100, 65536 - offset_bytes);
    for (const BitFlip& flip :
         rules.Meet(RequestOf(IoKind::kRead, offset_bytes, length_bytes)).flips) {
      pieces.push_back(flip);
    }
  }
  EXPECT_EQ(pieces, whole);
  FaultRules other_seed(2, kSizeBytes);
  other_seed.Add({.kind = FaultKind::kCorrupt});
  EXPECT_EQ(other_seed.Meet(RequestOf(IoKind::kRead, 0, 65536)).flips, whole);
}

TEST(FaultRulesTest, FlipsStayInTheRulesRange) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.kind = FaultKind::kCorrupt, .offset_bytes = 1000, .length_bytes = 1});
  rules.Add({.kind = FaultKind::kCorrupt, .offset_bytes = 5000, .length_bytes = 700});
  const std::vector<BitFlip> flips = rules.Meet(RequestOf(IoKind::kRead, 0, 65536)).flips;
  ASSERT_EQ(flips.size(), 1u + 3u);  // 5000..5700 touches the sectors 9, 10 and 11
  EXPECT_EQ(flips[0].offset_bytes, 1000u);
  EXPECT_GE(flips[1].offset_bytes, 5000u);
  EXPECT_LT(flips[3].offset_bytes, 5700u);
}

TEST(FaultRulesTest, WhatIsReadIsWrongInAnotherWayThanWhatIsWritten) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.kind = FaultKind::kCorrupt});
  const std::vector<BitFlip> read = rules.Meet(RequestOf(IoKind::kRead, 0, 65536)).flips;
  const std::vector<BitFlip> written = rules.Meet(RequestOf(IoKind::kWrite, 0, 65536)).flips;
  ASSERT_EQ(read.size(), written.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_NE(read[i], written[i]);
  }
}

TEST(FaultRulesTest, TwoRulesThatFlipTheSameBitFlipItOnce) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.kind = FaultKind::kCorrupt});
  rules.Add({.kind = FaultKind::kCorrupt});
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kRead)).flips.size(), 8u);
}

TEST(FaultRulesTest, AWriteEndsTheFaultForTheBytesItCovers) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.op = FaultOp::kRead,
             .offset_bytes = 4096,
             .length_bytes = 8192,
             .until = FaultUntil::kWrite});
  rules.Heal(0, 4096);
  rules.Heal(12288, 4096);
  rules.Heal(8192, 0);
  EXPECT_EQ(Left(rules), (std::vector<FaultRange>{{4096, 12288}}));
  rules.Heal(6000, 1000);
  EXPECT_EQ(Left(rules), (std::vector<FaultRange>{{4096, 6000}, {7000, 12288}}));
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kRead, 6000, 1000)).error, 0);
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kRead, 6000, 1001)).error, EIO);
  rules.Heal(0, 5000);
  rules.Heal(12000, 4096);
  EXPECT_EQ(Left(rules), (std::vector<FaultRange>{{5000, 6000}, {7000, 12000}}));
  rules.Heal(5500, 5000);
  EXPECT_EQ(Left(rules), (std::vector<FaultRange>{{5000, 5500}, {10500, 12000}}));
  EXPECT_EQ(rules.size(), 1u);
  rules.Heal(5000, 7000);
  EXPECT_EQ(rules.size(), 0u);
}

TEST(FaultRulesTest, PiecesOfARuleCountTogether) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.offset_bytes = 0, .length_bytes = 8192, .nth = 2, .until = FaultUntil::kWrite});
  rules.Heal(1000, 1000);
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kRead, 0, 10)).error, 0);
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kRead, 4096, 10)).error, EIO);
}

TEST(FaultRulesTest, HealedBytesAreNoLongerCorrupted) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.op = FaultOp::kRead, .kind = FaultKind::kCorrupt, .until = FaultUntil::kWrite});
  const std::vector<BitFlip> before = rules.Meet(RequestOf(IoKind::kRead, 0, 4096)).flips;
  ASSERT_EQ(before.size(), 8u);
  rules.Heal(before[2].offset_bytes, 1);
  const std::vector<BitFlip> after = rules.Meet(RequestOf(IoKind::kRead, 0, 4096)).flips;
  std::vector<BitFlip> expected = before;
  expected.erase(expected.begin() + 2);
  EXPECT_EQ(after, expected);
}

TEST(FaultRulesTest, RulesThatDoNotEndWithAWriteStay) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({});
  rules.Add({.op = FaultOp::kFlush, .length_bytes = 0});
  rules.Heal(0, kSizeBytes);
  EXPECT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules.Meet(RequestOf(IoKind::kFlush, 0, 0)).error, EIO);
}

TEST(FaultRulesTest, ListsRulesAsTheyWereGiven) {
  FaultRules rules(1, kSizeBytes);
  rules.Add({.op = FaultOp::kWrite, .kind = FaultKind::kTorn, .offset_bytes = 512, .nth = 4});
  const std::vector<FaultRule> list = rules.List();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].op, FaultOp::kWrite);
  EXPECT_EQ(list[0].kind, FaultKind::kTorn);
  EXPECT_EQ(list[0].offset_bytes, 512u);
  EXPECT_EQ(list[0].length_bytes, kToTheEnd);
  EXPECT_EQ(list[0].nth, 4u);
}

TEST(TornLengthTest, IsTheFirstHalfInWholeUnits) {
  EXPECT_EQ(TornLengthBytes(0, 1), 0u);
  EXPECT_EQ(TornLengthBytes(512, 1), 0u);
  EXPECT_EQ(TornLengthBytes(513, 1), 512u);
  EXPECT_EQ(TornLengthBytes(1024, 1), 512u);
  EXPECT_EQ(TornLengthBytes(4096, 1), 2048u);
  EXPECT_EQ(TornLengthBytes(3 * 512, 512), 512u);
  EXPECT_EQ(TornLengthBytes(4096, 4096), 0u);
  EXPECT_EQ(TornLengthBytes(8192, 4096), 4096u);
  EXPECT_EQ(TornLengthBytes(20480, 4096), 8192u);
}

}  // namespace
}  // namespace mdvol
