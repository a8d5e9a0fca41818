// Disks: the members of a test's array as bytes in memory, apart from any array that runs on them.
// Can be copied, so that a test may go on from one state in several ways, and recorded requests can
// be replayed onto them. One thread at a time, but for the devices themselves.

#ifndef MDVOL_TESTS_SUPPORT_TEST_ARRAY_DISKS_H_
#define MDVOL_TESTS_SUPPORT_TEST_ARRAY_DISKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/member_device.h"
#include "core/device/memory_device.h"
#include "tests/support/test_array/recording_device.h"

namespace mdvol::testing {

class Disks {
 public:
  void Add(std::string name, uint64_t size_bytes, const MemoryDeviceOptions& options = {});
  Disks Copy() const;

  size_t size() const { return disks_.size(); }
  MemberDevice& operator[](size_t i) const { return *disks_[i].device; }
  // A handle for an array, or a tool, to use and throw away.
  std::unique_ptr<MemberDevice> Open(size_t i) const;

  // Does to the disk what the request did; flushes and reads do nothing.
  void Replay(const RecordedRequest& request) const;

  std::vector<std::byte> Bytes(size_t i, uint64_t begin, uint64_t length_bytes) const;
  void Put(size_t i, uint64_t begin, std::span<const std::byte> bytes) const;
  // The first place, if any, where two sets of disks differ, in words.
  std::string DifferenceFrom(const Disks& other) const;

 private:
  struct Disk {
    std::shared_ptr<MemberDevice> device;
    MemoryDeviceOptions options;
  };
  std::vector<Disk> disks_;
};

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_SUPPORT_TEST_ARRAY_DISKS_H_
