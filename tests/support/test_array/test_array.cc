// See test_array.h.

#include "tests/support/test_array/test_array.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/array/create.h"
#include "core/base/check.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/counting_device.h"
#include "core/stripe/sync_types.h"
#include "core/sync/start_array.h"

namespace mdvol::testing {
namespace {

constexpr uint64_t kDataOffset = 64 * kKiB;

CreatePlan MustPlan(const CreateRequest& request) {
  auto plan = PlanCreate(request);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.status();
  }
  return *std::move(plan);
}

ArrayGeometry MustGeometry(const ArraySpec& spec) {
  return *ArrayGeometry::Make(spec.layout, spec.raid_disks, spec.chunk_bytes,
                              spec.stripes * spec.chunk_bytes);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ArraySpec& spec) {
  return out << LayoutName(spec.layout) << ", " << spec.raid_disks << "+" << spec.spares
             << " members, chunk " << spec.chunk_bytes << ", " << spec.stripes
             << " stripes, bitmap " << (spec.bitmap ? spec.bitmap_chunk_bytes : 0) << ", 1."
             << spec.minor << ", alignment " << spec.alignment_bytes;
}

CreateRequest RequestOf(const ArraySpec& spec) {
  CreateRequest request;
  for (uint32_t i = 0; i < spec.raid_disks + spec.spares; ++i) {
    request.members.push_back({.path = absl::StrCat("/m/d", i)});
    request.device_uuids.emplace_back().bytes.fill(static_cast<uint8_t>(0x10 + i));
  }
  request.raid_disks = spec.raid_disks;
  request.spares = spec.spares;
  request.minor = spec.minor;
  request.layout = spec.layout;
  request.chunk_bytes = spec.chunk_bytes;
  request.size_bytes = spec.stripes * spec.chunk_bytes;
  if (spec.minor != 0) {
    request.data_offset_bytes = kDataOffset;
  }
  request.name = "test";
  request.array_uuid.bytes.fill(0xaa);
  request.bitmap = spec.bitmap;
  if (spec.bitmap) {
    request.bitmap_chunk_bytes = spec.bitmap_chunk_bytes;
  }
  request.wall_us = FakeClock::kStartWallUs;
  return request;
}

TestArray::TestArray(const ArraySpec& spec)
    : spec_(spec),
      plan_(MustPlan(RequestOf(spec))),
      geometry_(MustGeometry(spec)),
      prng_(TestSeed("TestArray")),
      events_(clock_),
      model_(std::vector<std::byte>(geometry_.volume_bytes())) {
  std::vector<std::unique_ptr<MemberDevice>> devices;
  for (size_t i = 0; i < plan_.members.size(); ++i) {
    disks_.Add(absl::StrCat("/m/d", i), plan_.members[i].device_bytes,
               {.alignment_bytes = spec.alignment_bytes});
    devices.push_back(disks_.Open(i));
  }
  if (const absl::Status status = WriteCreatePlan(plan_, devices); !status.ok()) {
    ADD_FAILURE() << status;
  }
}

TestArray::TestArray(const TestArray& other, Disks disks)
    : spec_(other.spec_),
      plan_(other.plan_),
      geometry_(other.geometry_),
      prng_(1),
      disks_(std::move(disks)),
      events_(clock_),
      model_(other.model_) {}

TestArray::~TestArray() { Close(); }

void TestArray::Close() {
  array_ = nullptr;
  faults_.clear();
}

absl::Status TestArray::Open(std::vector<size_t> members, const AssemblyOptions& assembly) {
  Opening opening;
  opening.members = std::move(members);
  opening.options.assembly = assembly;
  return Open(opening);
}

absl::Status TestArray::Open(const Opening& opening) {
  MDVOL_CHECK(array_ == nullptr);
  std::vector<size_t> indices = opening.members;
  if (indices.empty()) {
    indices.resize(disks_.size());
    std::iota(indices.begin(), indices.end(), size_t{0});
  }
  faults_.assign(disks_.size(), nullptr);
  std::vector<LoadedMember> members;
  for (const size_t i : indices) {
    auto member = LoadMember(OpenDisk(i));
    MDVOL_RETURN_IF_ERROR(member.status());
    members.push_back(*std::move(member));
  }
  auto array = opening.resync ? StartArray(std::move(members), opening.options, clock_, events_)
                              : Array::Start(std::move(members), opening.options, clock_, events_);
  MDVOL_RETURN_IF_ERROR(array.status());
  array_ = *std::move(array);
  return absl::OkStatus();
}

std::unique_ptr<MemberDevice> TestArray::OpenDisk(size_t disk) {
  auto fault = NewFaultDevice(NewRecordingDevice(disks_.Open(disk), disk, recording_),
                              /*seed=*/disk, clock_);
  faults_.resize(disks_.size());
  faults_[disk] = fault.get();
  return NewCountingDevice(std::move(fault), clock_);
}

size_t TestArray::AddDisk() {
  const size_t disk = disks_.size();
  const uint64_t size_bytes = disks_[0].size_bytes();
  disks_.Add(absl::StrCat("/m/d", disk), size_bytes, {.alignment_bytes = spec_.alignment_bytes});
  std::vector<std::byte> noise(size_bytes);
  prng_.Fill(noise);
  disks_.Put(disk, 0, noise);
  return disk;
}

absl::StatusOr<size_t> TestArray::AddMember(size_t disk, AddMode mode) {
  return array_->AddMember(OpenDisk(disk), mode);
}

std::optional<size_t> TestArray::MemberOf(size_t disk) const {
  for (const MemberSnapshot& member : array_->Snapshot().members) {
    if (member.path == disks_[disk].path()) {
      return member.index;
    }
  }
  return std::nullopt;
}

absl::Status TestArray::Recover(uint64_t stripes,
                                const std::function<absl::Status(uint64_t)>& between) {
  while (array_->PendingRecovery().has_value()) {
    MDVOL_RETURN_IF_ERROR(array_->BeginRecovery());
    uint64_t from = 0;
    for (auto next = array_->NextToRecover(from); next.has_value();
         next = array_->NextToRecover(from)) {
      const StripeRange part{next->first, std::min(next->count, stripes)};
      SyncFindings findings;
      MDVOL_RETURN_IF_ERROR(array_->RecoverStripes(part, &findings));
      from = part.first + part.count;
      MDVOL_RETURN_IF_ERROR(between(from));
    }
    MDVOL_RETURN_IF_ERROR(array_->EndRecovery());
  }
  return absl::OkStatus();
}

absl::Status TestArray::Recover(uint64_t stripes) {
  return Recover(stripes, [this](uint64_t from) {
    return from % 3 == 0 ? array_->CheckpointRecovery() : absl::OkStatus();
  });
}

absl::Status TestArray::Stop() {
  const absl::Status status = array_->Stop();
  Close();
  return status;
}

std::string TestArray::EventText(const std::string& what) const {
  for (const Event& event : events_.All()) {
    if (event.what == what) {
      const std::string text = FormatEvent(event);
      return text.substr(text.find(' ') + 1);
    }
  }
  return "";
}

// ---- Content ----

absl::Status TestArray::Write(uint64_t offset_bytes, uint64_t length_bytes) {
  std::vector<std::byte> data(length_bytes);
  prng_.Fill(data);
  const absl::Status status = array_->Write(offset_bytes, data);
  status.ok() ? model_.Write(offset_bytes, data) : model_.Forget(offset_bytes, length_bytes);
  return status;
}

absl::Status TestArray::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  const absl::Status status = array_->Zero(offset_bytes, length_bytes);
  status.ok() ? model_.Zero(offset_bytes, length_bytes) : model_.Forget(offset_bytes, length_bytes);
  return status;
}

absl::Status TestArray::Fill() { return Write(0, geometry_.volume_bytes()); }

std::string TestArray::CheckVolume() {
  std::vector<std::byte> bytes(geometry_.volume_bytes());
  if (const absl::Status status = array_->Read(0, bytes); !status.ok()) {
    return MessageOf(status);
  }
  const auto difference = model_.FirstDifference(0, bytes);
  return difference.has_value() ? absl::StrCat("the volume is wrong at ", *difference) : "";
}

std::string TestArray::CheckVolumeWithout(std::vector<size_t> lost) {
  TestArray copy(*this, disks_.Copy());
  Opening opening = ReadOnly();
  for (size_t i = 0; i < disks_.size(); ++i) {
    if (std::find(lost.begin(), lost.end(), i) == lost.end()) {
      opening.members.push_back(i);
    }
  }
  opening.options.assembly.run = true;
  if (const absl::Status status = copy.Open(opening); !status.ok()) {
    return MessageOf(status);
  }
  return copy.CheckVolume();
}

oracle::Shape TestArray::Shape() const {
  return {.layout_id = static_cast<int>(spec_.layout),
          .members = spec_.raid_disks,
          .chunk_bytes = spec_.chunk_bytes};
}

std::vector<oracle::Bytes> TestArray::DataAreas() const {
  std::vector<oracle::Bytes> data;
  for (size_t i = 0; i < spec_.raid_disks; ++i) {
    data.push_back(disks_.Bytes(i, areas(i).data.begin, areas(i).data.size()));
  }
  return data;
}

std::string TestArray::CheckDisks(std::vector<size_t> slots) {
  if (slots.empty()) {
    slots.resize(spec_.raid_disks);
    std::iota(slots.begin(), slots.end(), size_t{0});
  }
  for (const size_t slot : slots) {
    if (std::string problem = CheckDisk(slot, areas(slot).data.size()); !problem.empty()) {
      return problem;
    }
  }
  return "";
}

std::string TestArray::CheckDisk(size_t slot, uint64_t length_bytes) {
  return CheckDisk(slot, slot, length_bytes);
}

std::string TestArray::CheckDiskInSlot(size_t disk, size_t slot) {
  return CheckDisk(disk, slot, areas(disk).data.size());
}

std::string TestArray::CheckDisk(size_t disk, size_t slot, uint64_t length_bytes) {
  const oracle::Bytes expected = oracle::MembersOf(Shape(), model_.bytes())[slot];
  const auto data = disks_.Bytes(disk, areas(disk).data.begin, length_bytes);
  const auto [at, ignored] = std::mismatch(data.begin(), data.end(), expected.begin());
  if (at == data.end()) {
    return "";
  }
  const auto place = static_cast<uint64_t>(at - data.begin());
  return absl::StrCat("slot ", slot, " is wrong in stripe ", place / spec_.chunk_bytes,
                      " at column ", place % spec_.chunk_bytes);
}

std::vector<uint64_t> TestArray::InconsistentStripes() {
  return oracle::InconsistentStripes(Shape(), DataAreas());
}

// ---- Metadata ----

Superblock TestArray::super(size_t disk) const {
  Superblock super;
  const auto bytes = disks_.Bytes(disk, areas(disk).super.begin, sizeof(super));
  std::memcpy(&super, bytes.data(), sizeof(super));
  return super;
}

void TestArray::PutSuper(size_t disk, Superblock super) {
  SealSuperblock(super);
  disks_.Put(disk, areas(disk).super.begin,
             std::as_bytes(std::span(&super, 1)).first(areas(disk).super.size()));
}

BitmapSuperblock TestArray::bitmap_super(size_t disk) const {
  BitmapSuperblock super;
  const auto bytes = disks_.Bytes(disk, areas(disk).bitmap.begin, sizeof(super));
  std::memcpy(&super, bytes.data(), sizeof(super));
  return super;
}

void TestArray::PutBitmapSuper(size_t disk, const BitmapSuperblock& super) {
  disks_.Put(disk, areas(disk).bitmap.begin, std::as_bytes(std::span(&super, 1)));
}

bool TestArray::Bit(size_t disk, uint64_t bit) const {
  const auto byte =
      disks_.Bytes(disk, areas(disk).bitmap.begin + kBitmapSuperBytes + bit / 8, 1)[0];
  return ((std::to_integer<unsigned>(byte) >> (bit % 8)) & 1) != 0;
}

void TestArray::PutBit(size_t disk, uint64_t bit, bool value) {
  const uint64_t place = areas(disk).bitmap.begin + kBitmapSuperBytes + bit / 8;
  std::byte byte = disks_.Bytes(disk, place, 1)[0];
  const std::byte mask{static_cast<uint8_t>(1U << (bit % 8))};
  byte = value ? byte | mask : byte & ~mask;
  disks_.Put(disk, place, {&byte, 1});
}

uint64_t TestArray::CountBits(size_t disk) const {
  uint64_t count = 0;
  for (uint64_t bit = 0; bit < bits(); ++bit) {
    count += Bit(disk, bit) ? 1U : 0U;
  }
  return count;
}

std::string TestArray::CheckSupers() const {
  std::vector<size_t> all(disks_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return CheckSupersOf(all);
}

std::string TestArray::CheckSupersOf(const std::vector<size_t>& disks) const {
  for (const size_t i : disks) {
    const absl::Status status =
        CheckSuperblock(super(i), spec_.minor, disks_[i].size_bytes() / kSectorBytes);
    if (!status.ok()) {
      return absl::StrCat(disks_[i].path(), ": ", MessageOf(status));
    }
  }
  return "";
}

uint64_t TestArray::DiskOffset(uint64_t volume_offset_bytes) const {
  const VolumeLocation at = geometry_.Locate(volume_offset_bytes);
  return areas(at.slot).data.begin + at.data_offset_bytes;
}

uint64_t TestArray::BitOf(uint64_t volume_offset_bytes) const {
  return geometry_.Locate(volume_offset_bytes).stripe * spec_.chunk_bytes /
         spec_.bitmap_chunk_bytes;
}

}  // namespace mdvol::testing
