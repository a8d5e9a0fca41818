// Tests of the order in which descriptors are closed.

#include "fuse/closed_last.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

namespace mdvol {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(ClosedLastTest, ASocketMovesUpAndStaysConnected) {
  std::array<int, 2> pair = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  const auto before = OpenSockets();
  EXPECT_THAT(before, Contains(pair[0]));
  EXPECT_THAT(before, Contains(pair[1]));
  CloseLast(pair[0]);
  const auto after = OpenSockets();
  EXPECT_THAT(after, Not(Contains(pair[0])));
  ASSERT_EQ(after.size(), before.size());
  const int moved = after.back();
  EXPECT_GT(moved, 500);
  EXPECT_NE(::fcntl(moved, F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(::write(moved, "x", 1), 1);
  char byte = 0;
  ASSERT_EQ(::read(pair[1], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  ::close(moved);
  EXPECT_EQ(::read(pair[1], &byte, 1), 0);  // There is no other copy.
  ::close(pair[1]);
}

TEST(ClosedLastTest, WhatIsInheritedStaysSo) {
  std::array<int, 2> pair = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  CloseLast(pair[0]);
  const int moved = OpenSockets().back();
  EXPECT_EQ(::fcntl(moved, F_GETFD) & FD_CLOEXEC, 0);
  ::close(moved);
  ::close(pair[1]);
}

TEST(ClosedLastTest, WithoutRoomItStaysWhereItIs) {
  std::array<int, 2> pair = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit low = limit;
  low.rlim_cur = static_cast<rlim_t>(pair[1]) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  CloseLast(pair[0]);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_NE(::fcntl(pair[0], F_GETFD), -1);
  CloseLast(-1);  // Nothing to move.
  ::close(pair[0]);
  ::close(pair[1]);
}

}  // namespace
}  // namespace mdvol
