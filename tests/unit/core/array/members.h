// Members in memory, as `create` makes them, for the tests of this folder.

#ifndef MDVOL_TESTS_UNIT_CORE_ARRAY_MEMBERS_H_
#define MDVOL_TESTS_UNIT_CORE_ARRAY_MEMBERS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/units.h"
#include "core/device/member_device.h"
#include "core/device/memory_device.h"
#include "core/metadata/create_plan.h"
#include "core/metadata/superblock.h"

namespace mdvol::testing {

using Devices = std::vector<std::unique_ptr<MemberDevice>>;

// Four new members of 8 MiB data, chunk 64 KiB.
inline CreateRequest BasicRequest(int minor) {
  CreateRequest request;
  request.raid_disks = 4;
  request.minor = minor;
  request.chunk_bytes = 64 * kKiB;
  request.size_bytes = 8 * kMiB;
  request.name = "vol";
  request.array_uuid.bytes.fill(0xaa);
  request.wall_us = 1'700'000'000'000'000;
  for (uint8_t i = 0; i < 4; ++i) {
    request.members.push_back({.path = absl::StrCat("m", i)});
    request.device_uuids.emplace_back().bytes.fill(i);
  }
  return request;
}

inline CreatePlan MustPlan(const CreateRequest& request) {
  auto plan = PlanCreate(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

inline Devices MakeDevices(const CreatePlan& plan, const MemoryDeviceOptions& options = {}) {
  Devices devices;
  for (const PlannedMember& member : plan.members) {
    devices.push_back(member.present ? NewMemoryDevice(absl::StrCat("m", devices.size()),
                                                       member.device_bytes, options)
                                     : nullptr);
  }
  return devices;
}

inline std::vector<uint8_t> Bytes(MemberDevice& device, uint64_t begin, uint64_t length) {
  std::vector<uint8_t> bytes(length);
  EXPECT_TRUE(ReadMember(device, begin, bytes.data(), length).ok());
  return bytes;
}

inline void Put(MemberDevice& device, uint64_t offset, std::string_view bytes) {
  ASSERT_TRUE(WriteMember(device, offset, bytes.data(), bytes.size()).ok());
}

inline Superblock SuperblockAt(MemberDevice& device, int minor) {
  Superblock super;
  const uint64_t sector = *SuperblockSector(minor, device.size_bytes() / kSectorBytes);
  EXPECT_TRUE(ReadMember(device, sector * kSectorBytes, &super, sizeof(super)).ok());
  return super;
}

// Stores a changed superblock, with its checksum made right.
inline void PutSuperblock(MemberDevice& device, int minor, Superblock super) {
  SealSuperblock(super);
  const uint64_t sector = *SuperblockSector(minor, device.size_bytes() / kSectorBytes);
  ASSERT_TRUE(WriteMember(device, sector * kSectorBytes, &super, sizeof(super)).ok());
}

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_ARRAY_MEMBERS_H_
