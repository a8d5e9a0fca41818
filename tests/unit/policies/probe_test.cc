// A probe comes back whatever happens in it, and leaves nothing behind.

#include "policies/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/base/status.h"

namespace mdvol {
namespace {

using ::testing::HasSubstr;

TEST(ProbeTest, TheWordOfTheChildIsTheAnswer) {
  EXPECT_TRUE(RunInProbe([] { return absl::OkStatus(); }, 10000).ok());
  const absl::Status status = RunInProbe([] { return UsageError("no good"); }, 10000);
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_EQ(MessageOf(status), "no good");
}

TEST(ProbeTest, AVeryLongWordIsCut) {
  const absl::Status status =
      RunInProbe([] { return UsageError(std::string(100000, 'x')); }, 10000);
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_GT(MessageOf(status).size(), 1000U);
}

TEST(ProbeTest, WhatTheChildChangesIsNotChangedHere) {
  int number = 1;
  EXPECT_TRUE(RunInProbe(
                  [&] {
                    number = 2;
                    return absl::OkStatus();
                  },
                  10000)
                  .ok());
  EXPECT_EQ(number, 1);
}

TEST(ProbeTest, WithoutAWordTheEndOfTheChildIsTold) {
  const auto end_by = [](void (*way)()) {
    return MessageOf(RunInProbe(
        [way] {
          way();
          return absl::OkStatus();
        },
        10000));
  };
  EXPECT_THAT(end_by([] { ::raise(SIGSEGV); }), HasSubstr("signal 11"));
  EXPECT_THAT(end_by([] { std::abort(); }), HasSubstr("signal 6"));
  EXPECT_THAT(end_by([] { throw 1; }), HasSubstr("signal 6"));
  EXPECT_THAT(end_by([] { ::_exit(0); }), HasSubstr("exit code 0"));
  EXPECT_THAT(end_by([] { ::_exit(7); }), HasSubstr("exit code 7"));
}

TEST(ProbeTest, ItsOutputGoesNowhere) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(RunInProbe(
                  [] {
                    std::puts("out");
                    std::fputs("err", stderr);
                    std::fflush(nullptr);
                    return absl::OkStatus();
                  },
                  10000)
                  .ok());
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// The grandchild holds the pipe open: there is no word and no end of file.
TEST(ProbeTest, AChildThatHangsIsEndedWithItsChildren) {
  void* const memory =
      ::mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const grandchild = static_cast<volatile pid_t*>(memory);
  const absl::Status status = RunInProbe(
      [grandchild] {
        const pid_t pid = ::fork();
        if (pid == 0) {
          ::sleep(1000);
        }
        *grandchild = pid;
        ::_exit(0);
        return absl::OkStatus();
      },
      500);
  EXPECT_THAT(MessageOf(status), HasSubstr("hangs"));
  ASSERT_GT(*grandchild, 0);
  // It is dead, though perhaps not yet reaped by whoever has adopted it.
  bool is_gone = false;
  for (int i = 0; i < 1000 && !is_gone; ++i) {
    std::FILE* const stat =
        std::fopen(("/proc/" + std::to_string(*grandchild) + "/stat").c_str(), "r");
    char state = 'X';
    if (stat != nullptr) {
      static_cast<void>(!std::fscanf(stat, "%*d %*s %c", &state));
      std::fclose(stat);
    }
    is_gone = state == 'Z' || state == 'X';
    ::usleep(10000);
  }
  EXPECT_TRUE(is_gone);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  ::munmap(memory, sizeof(pid_t));
}

}  // namespace
}  // namespace mdvol
