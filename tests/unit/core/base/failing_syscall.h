// RunWithFailingSyscall: runs code in a thread of its own in which chosen system calls fail with
// chosen errnos, through a seccomp filter that goes with the thread. So the error paths of code
// that calls the OS are walked without mounts, full disks or root. Works on every kernel with
// seccomp filters; where there are none, the test fails and says so.

#ifndef MDVOL_TESTS_UNIT_CORE_BASE_FAILING_SYSCALL_H_
#define MDVOL_TESTS_UNIT_CORE_BASE_FAILING_SYSCALL_H_

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace mdvol::testing {

// `number` is an SYS_… constant.
struct FailingSyscall {
  long number;
  int error_number;
  // Only calls whose argument number `argument`, from 0, has these low 32 bits fail; -1: all.
  int argument = -1;
  uint32_t value = 0;
};

inline std::vector<sock_filter> FilterFor(const FailingSyscall& failing) {
  const auto load = [](size_t position) {
    return sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(position)));
  };
  const auto skip_unless_equal = [](uint32_t value, uint8_t skipped) {
    return sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
  };
  const auto answer = [](uint32_t action) {
    return sock_filter(BPF_STMT(BPF_RET | BPF_K, action));
  };
  const auto number = static_cast<uint32_t>(failing.number);
  std::vector<sock_filter> filter = {load(offsetof(seccomp_data, nr))};
  if (failing.argument < 0) {
    filter.push_back(skip_unless_equal(number, 1));
  } else {
    filter.push_back(skip_unless_equal(number, 3));
    filter.push_back(load(offsetof(seccomp_data, args) +
                          static_cast<size_t>(failing.argument) * sizeof(uint64_t)));
    filter.push_back(skip_unless_equal(failing.value, 1));
  }
  filter.push_back(answer(SECCOMP_RET_ERRNO | static_cast<uint32_t>(failing.error_number)));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  return filter;
}

template <typename Body>
void RunWithFailingSyscall(const FailingSyscall& failing, Body body) {
  std::thread thread([&] {
    std::vector<sock_filter> filter = FilterFor(failing);
    sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program), 0)
        << "this kernel has no seccomp filters, which this test needs";
    body();
  });
  thread.join();
}

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_BASE_FAILING_SYSCALL_H_
