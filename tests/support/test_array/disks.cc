// See disks.h.

#include "tests/support/test_array/disks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/member_io.h"
#include "core/base/aligned_buffer.h"
#include "core/base/check.h"
#include "core/base/units.h"
#include "core/device/shared_device.h"

namespace mdvol::testing {
namespace {

constexpr uint64_t kStepBytes = 64 * kKiB;

// Calls visit(begin, length) for the pieces of the device that are no holes.
template <typename Visit>
void ForEachPiece(MemberDevice& device, Visit visit) {
  for (uint64_t begin = *device.NextData(0); begin < device.size_bytes();
       begin = *device.NextData(begin)) {
    const uint64_t end = std::min(*device.NextHole(begin), begin + kStepBytes);
    visit(begin, end - begin);
    begin = end;
  }
}

}  // namespace

void Disks::Add(std::string name, uint64_t size_bytes, const MemoryDeviceOptions& options) {
  disks_.push_back({NewMemoryDevice(std::move(name), size_bytes, options), options});
}

Disks Disks::Copy() const {
  Disks copy;
  for (const Disk& disk : disks_) {
    copy.Add(disk.device->path(), disk.device->size_bytes(), disk.options);
    AlignedBuffer buffer(kStepBytes);
    ForEachPiece(*disk.device, [&](uint64_t begin, uint64_t length) {
      MDVOL_CHECK(ReadMember(*disk.device, begin, buffer.data(), length).ok());
      MDVOL_CHECK(WriteMember(*copy.disks_.back().device, begin, buffer.data(), length).ok());
    });
  }
  return copy;
}

std::unique_ptr<MemberDevice> Disks::Open(size_t i) const {
  return std::make_unique<SharedDevice>(disks_[i].device);
}

void Disks::Replay(const RecordedRequest& request) const {
  MemberDevice& disk = *disks_[request.member].device;
  if (request.kind == IoKind::kWrite) {
    MDVOL_CHECK(
        WriteMember(disk, request.offset_bytes, request.bytes.data(), request.bytes.size()).ok());
  } else if (request.kind == IoKind::kZero) {
    MDVOL_CHECK(ZeroMember(disk, request.offset_bytes, request.length_bytes).ok());
  }
}

std::vector<std::byte> Disks::Bytes(size_t i, uint64_t begin, uint64_t length_bytes) const {
  const auto bytes = ReadAnywhere(*disks_[i].device, {begin, begin + length_bytes});
  MDVOL_CHECK(bytes.ok());
  const auto* first = reinterpret_cast<const std::byte*>(bytes->data());
  return {first, first + bytes->size()};
}

void Disks::Put(size_t i, uint64_t begin, std::span<const std::byte> bytes) const {
  const std::span<const uint8_t> data(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  MDVOL_CHECK(WriteAnywhere(*disks_[i].device, begin, data).ok());
}

std::string Disks::DifferenceFrom(const Disks& other) const {
  for (size_t i = 0; i < disks_.size(); ++i) {
    const uint64_t size = disks_[i].device->size_bytes();
    for (uint64_t begin = 0; begin < size; begin += kStepBytes) {
      const uint64_t length = std::min(kStepBytes, size - begin);
      const auto mine = Bytes(i, begin, length);
      const auto its = other.Bytes(i, begin, length);
      const auto [at, ignored] = std::mismatch(mine.begin(), mine.end(), its.begin());
      if (at != mine.end()) {
        return absl::StrCat(disks_[i].device->path(), " differs at byte ",
                            begin + static_cast<uint64_t>(at - mine.begin()));
      }
    }
  }
  return "";
}

}  // namespace mdvol::testing
