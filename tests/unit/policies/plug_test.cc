// resync_request "plug-16" and "plug-64": large requests up to so many members, 4 KiB beyond.

#include "policies/plug.h"

#include <gtest/gtest.h>

#include <vector>

namespace mdvol {
namespace {

constexpr uint64_t kWindow = 1024 * 1024;

std::vector<RequestCuts> CutsOf(const ResyncRequest& policy, uint32_t members) {
  std::vector<RequestCuts> cuts(members);
  policy.Cut({members, kWindow}, cuts);
  return cuts;
}

void ExpectRequestsOf(const ResyncRequest& policy, uint32_t members, uint64_t bytes) {
  for (const RequestCuts& cuts : CutsOf(policy, members)) {
    ASSERT_EQ(cuts.size(), kWindow / bytes) << members;
    for (size_t i = 0; i < cuts.size(); ++i) {
      EXPECT_EQ(cuts[i], i * bytes);
    }
  }
}

TEST(PlugTest, UpToSixteenMembersRequestsGrowAsLargeAsDisksTakeThem) {
  const Plug16Requests plug({});
  for (const uint32_t members : {1U, 4U, 15U, 16U}) {
    ExpectRequestsOf(plug, members, kPlugRequestBytes);
  }
}

TEST(PlugTest, FromSeventeenMembersOnNothingIsJoined) {
  const Plug16Requests plug({});
  for (const uint32_t members : {17U, 18U, 24U, 36U, 64U, 128U}) {
    ExpectRequestsOf(plug, members, 4096);
  }
}

TEST(PlugTest, SixtyFourRequestsMoveTheCliff) {
  const Plug64Requests plug({});
  for (const uint32_t members : {4U, 16U, 17U, 36U, 64U}) {
    ExpectRequestsOf(plug, members, kPlugRequestBytes);
  }
  for (const uint32_t members : {65U, 128U}) {
    ExpectRequestsOf(plug, members, 4096);
  }
}

TEST(PlugTest, AnEmptyWindowHasNoRequests) {
  std::vector<RequestCuts> cuts(5);
  Plug16Requests({}).Cut({5, 0}, cuts);
  EXPECT_EQ(cuts, std::vector<RequestCuts>(5));
  Plug16Requests({}).Cut({0, kWindow}, {});
}

}  // namespace
}  // namespace mdvol
