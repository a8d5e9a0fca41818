// Fault rules as text: what is shown reads back as the same rule.

#include <gtest/gtest.h>

#include "core/config/config.h"
#include "fuse/control/attribute.h"

namespace mdvol {
namespace {

void ExpectReadsBack(const FaultRule& rule) {
  const std::string text = FormatFaultRule(rule);
  const absl::StatusOr<FaultConfig> parsed = ParseFaultKeys(text);
  ASSERT_TRUE(parsed.ok()) << text;
  EXPECT_EQ(parsed->rule.op, rule.op) << text;
  EXPECT_EQ(parsed->rule.kind, rule.kind) << text;
  EXPECT_EQ(parsed->rule.offset_bytes, rule.offset_bytes) << text;
  EXPECT_EQ(parsed->rule.length_bytes, rule.length_bytes) << text;
  EXPECT_EQ(parsed->rule.nth, rule.nth) << text;
  EXPECT_EQ(parsed->rule.probability, rule.probability) << text;
  EXPECT_EQ(parsed->rule.delay_ns, rule.delay_ns) << text;
  EXPECT_EQ(parsed->rule.until, rule.until) << text;
}

TEST(FaultTextTest, EveryRuleReadsBack) {
  FaultRule rule;
  for (const FaultKind kind : {FaultKind::kError, FaultKind::kDelay, FaultKind::kCorrupt,
                               FaultKind::kDrop, FaultKind::kTorn}) {
    rule.kind = kind;
    rule.delay_ns = kind == FaultKind::kDelay ? 3'000 : 0;
    rule.op = FaultOp::kWrite;
    ExpectReadsBack(rule);
  }
  rule = {};
  for (const FaultOp op : {FaultOp::kRead, FaultOp::kWrite, FaultOp::kFlush, FaultOp::kAny}) {
    rule.op = op;
    ExpectReadsBack(rule);
  }
  rule = {};
  rule.offset_bytes = 4096;
  rule.length_bytes = 1;
  ExpectReadsBack(rule);
  rule.nth = 3;
  rule.until = FaultUntil::kWrite;
  ExpectReadsBack(rule);
  rule.nth = 0;
  rule.probability = 0.25;
  ExpectReadsBack(rule);
}

}  // namespace
}  // namespace mdvol
