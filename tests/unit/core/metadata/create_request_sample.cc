// See create_request_sample.h.

#include "tests/unit/core/metadata/create_request_sample.h"

#include "absl/strings/str_cat.h"

namespace mdvol::testing {

CreateRequest NewImages(uint32_t raid_disks, uint64_t size_bytes, uint32_t spares) {
  CreateRequest request;
  request.raid_disks = raid_disks;
  request.spares = spares;
  request.size_bytes = size_bytes;
  request.name = "host:vol";
  request.array_uuid.bytes.fill(0xa5);
  request.wall_us = 1'700'000'000'000'000;
  for (uint32_t i = 0; i < raid_disks + spares; ++i) {
    request.members.push_back({.path = absl::StrCat("d", i, ".img")});
    Uuid uuid;
    uuid.bytes.fill(static_cast<uint8_t>(i + 1));
    request.device_uuids.push_back(uuid);
  }
  return request;
}

void MakeExisting(CreateRequest& request, uint32_t number, uint64_t device_bytes) {
  request.members[number].exists = true;
  request.members[number].device_bytes = device_bytes;
}

}  // namespace mdvol::testing
