// Embedding the core without FUSE: makes a small array in memory, writes, loses two members, reads
// back.
//
// Build it against an installed mdvol:
//   find_package(mdvol REQUIRED)
//   target_link_libraries(embed mdvol::sync)

#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "core/array/create.h"
#include "core/array/member_loader.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "core/metadata/create_plan.h"
#include "core/sync/start_array.h"

namespace {

constexpr uint32_t kMembers = 6;

absl::StatusOr<mdvol::CreatePlan> Plan() {
  mdvol::CreateRequest request;
  request.raid_disks = kMembers;
  request.chunk_bytes = 64 * mdvol::kKiB;
  request.size_bytes = 8 * mdvol::kMiB;
  request.name = "embedded";
  request.wall_us = mdvol::SystemClock().WallUs();
  MDVOL_ASSIGN_OR_RETURN(request.array_uuid, mdvol::RandomUuid());
  for (uint32_t i = 0; i < kMembers; ++i) {
    request.members.push_back({.path = std::to_string(i) + ".img"});
    MDVOL_ASSIGN_OR_RETURN(request.device_uuids.emplace_back(), mdvol::RandomUuid());
  }
  return mdvol::PlanCreate(request);
}

absl::StatusOr<std::unique_ptr<mdvol::Array>> CreateAndStart(mdvol::EventLog& events) {
  MDVOL_ASSIGN_OR_RETURN(const mdvol::CreatePlan plan, Plan());
  std::vector<std::unique_ptr<mdvol::MemberDevice>> devices;
  for (const mdvol::PlannedMember& member : plan.members) {
    devices.push_back(
        mdvol::NewMemoryDevice(std::to_string(devices.size()) + ".img", member.device_bytes));
  }
  MDVOL_RETURN_IF_ERROR(mdvol::WriteCreatePlan(plan, devices));
  std::vector<mdvol::LoadedMember> members;
  for (auto& device : devices) {
    MDVOL_ASSIGN_OR_RETURN(mdvol::LoadedMember member, mdvol::LoadMember(std::move(device)));
    members.push_back(std::move(member));
  }
  return mdvol::StartArray(std::move(members), {}, mdvol::SystemClock(), events);
}

absl::Status Run() {
  mdvol::EventLog events(mdvol::SystemClock());
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<mdvol::Array> array, CreateAndStart(events));

  std::vector<std::byte> written(1 * mdvol::kMiB, std::byte{0x5a});
  MDVOL_RETURN_IF_ERROR(array->Write(12345, written));
  MDVOL_RETURN_IF_ERROR(array->FailMember(0, "to see what happens"));
  MDVOL_RETURN_IF_ERROR(array->FailMember(3, "and once more"));

  std::vector<std::byte> read(written.size());
  MDVOL_RETURN_IF_ERROR(array->Read(12345, read));
  std::cout << (read == written ? "two members lost, every byte is there\n" : "bytes differ\n");
  MDVOL_RETURN_IF_ERROR(array->Stop());

  for (const mdvol::Event& event : events.All()) {
    std::cout << mdvol::FormatEvent(event) << '\n';
  }
  return read == written ? absl::OkStatus() : mdvol::ErrnoStatus(EIO, "bytes differ");
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) {
    std::cerr << "embed: " << mdvol::MessageOf(status) << '\n';
    return 1;
  }
  return 0;
}
