// See assembly_expect.h.

#include "tests/unit/core/metadata/assembly_expect.h"

#include "core/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mdvol::testing {

using ::testing::HasSubstr;

AssemblyDecision Decide(const std::vector<MemberReport>& reports, const AssemblyOptions& options) {
  AssemblyDecision decision = DecideAssembly(reports, options);
  EXPECT_EQ(decision.members.size(), reports.size());
  for (const MemberVerdict& verdict : decision.members) {
    EXPECT_FALSE(verdict.reason.empty());
    EXPECT_EQ(verdict.reason.find('\n'), std::string::npos);
  }
  return decision;
}

AssemblyDecision ExpectRuns(const std::vector<MemberReport>& reports,
                            const AssemblyOptions& options) {
  AssemblyDecision decision = Decide(reports, options);
  EXPECT_TRUE(decision.status.ok()) << MessageOf(decision.status);
  return decision;
}

AssemblyDecision ExpectRefused(const std::vector<MemberReport>& reports, const std::string& words,
                               const AssemblyOptions& options) {
  AssemblyDecision decision = Decide(reports, options);
  EXPECT_FALSE(decision.status.ok()) << words;
  EXPECT_NE(ErrnoOf(decision.status), 0);
  EXPECT_THAT(MessageOf(decision.status), HasSubstr(words));
  EXPECT_EQ(MessageOf(decision.status).find('\n'), std::string::npos);
  return decision;
}

void ExpectStanding(const AssemblyDecision& decision, size_t i, MemberStanding standing,
                    const std::string& words) {
  EXPECT_EQ(decision.members[i].standing, standing) << decision.members[i].reason;
  EXPECT_THAT(decision.members[i].reason, HasSubstr(words));
}

}  // namespace mdvol::testing
