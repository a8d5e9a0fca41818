// MNT/iostat, column by column.

#include "fuse/render/iostat.h"

#include <gtest/gtest.h>

#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

constexpr char kHeader[] =
    "member r_requests r_bytes r_mean_kib r_merged r_mean_us "
    "w_requests w_bytes w_mean_kib w_merged w_mean_us flushes errors\n";

TEST(IostatTest, MeansHaveOneDecimalAndColumnsAreSplitByBlanks) {
  ArraySnapshot array = testing::FakeSnapshot();
  array.members.resize(2);
  array.members[1].io.reads = {3, 3 * 65536 + 1024, 4, 10'000};
  array.members[1].io.writes = {1, 512, 0, 1'250'000};
  array.members[1].io.flushes = 7;
  array.members[1].io.errors = 2;
  EXPECT_EQ(RenderIostat(array), std::string(kHeader) +
                                     "d0.img 0 0 0.0 0 0.0 0 0 0.0 0 0.0 0 0\n"
                                     "d1.img 3 197632 64.3 4 3.3 1 512 0.5 0 1250.0 7 2\n");
}

TEST(IostatTest, MembersAreListedInTheOrderInWhichTheyCame) {
  ArraySnapshot array = testing::FakeSnapshot();
  std::swap(array.members[0], array.members[5]);
  const std::string text = RenderIostat(array);
  EXPECT_LT(text.find("\nd0.img "), text.find("\nd5.img ")) << text;
}

}  // namespace
}  // namespace mdvol
