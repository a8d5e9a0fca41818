// See stripe_rig.h.

#include "tests/support/stripes/stripe_rig.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "tests/support/oracle/layout.h"

namespace mdvol::testing {
namespace {

constexpr uint64_t kFirstDataOffset = 3 * kLaneBytes;
constexpr uint64_t kTailBytes = 2 * kLaneBytes;

ArrayGeometry MakeGeometry(const RigOptions& options) {
  auto geometry = ArrayGeometry::Make(options.layout, options.members, options.chunk_bytes,
                                      options.chunk_bytes * options.stripes);
  MDVOL_CHECK(geometry.ok());
  return *geometry;
}

StripeModel MakeModel(const ArrayGeometry& geometry, Prng& prng) {
  std::vector<std::byte> bytes(geometry.volume_bytes());
  prng.Fill(bytes);
  return StripeModel(std::move(bytes));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RigOptions& options) {
  return out << LayoutName(options.layout) << ", " << options.members << " members, chunk "
             << options.chunk_bytes << ", " << options.stripes << " stripes, alignment "
             << options.alignment_bytes << ", seed 0x" << std::hex << options.seed << std::dec;
}

StripeRig::StripeRig(const RigOptions& options, std::function<bool(uint64_t stripe)> in_doubt)
    : options_(options),
      prng_(options.seed),
      geometry_(MakeGeometry(options)),
      model_(MakeModel(geometry_, prng_)),
      engine_(geometry_, std::move(in_doubt), &policies_, clock_) {
  view_.writable = true;
  view_.alignment_bytes = std::max<uint64_t>(kSectorBytes, options.alignment_bytes);
  for (uint32_t slot = 0; slot < options.members; ++slot) {
    // Not in order, so that offsets of members cannot be confused with slots.
    const uint64_t data_offset =
        kFirstDataOffset + (slot * 5 % options.members) * uint64_t{kLaneBytes};
    auto memory = NewMemoryDevice(absl::StrCat("m", slot),
                                  data_offset + geometry_.component_bytes() + kTailBytes,
                                  {.alignment_bytes = options.alignment_bytes});
    MemberDevice* const memory_seen = memory.get();
    auto fault = NewFaultDevice(std::move(memory), options.seed + slot, clock_);
    FaultDevice* const fault_seen = fault.get();
    auto counter = NewCountingDevice(std::move(fault), clock_);
    CountingDevice* const counter_seen = counter.get();
    members_.push_back({.hook = std::make_unique<HookDevice>(std::move(counter)),
                        .counter = counter_seen,
                        .fault = fault_seen,
                        .memory = memory_seen,
                        .data_offset_bytes = data_offset,
                        .expected_outside = {},
                        .bad_blocks = {},
                        .taken = {}});
    view_.slots.push_back({.device = members_.back().hook.get(),
                           .data_offset_bytes = data_offset,
                           .valid_bytes = geometry_.component_bytes(),
                           .bad_blocks = nullptr});
  }
  FillMembers();
}

oracle::Shape StripeRig::Shape() const {
  return {static_cast<int>(options_.layout), options_.members, options_.chunk_bytes};
}

void StripeRig::FillMembers() {
  const auto areas = oracle::MembersOf(Shape(), model_.bytes());
  for (uint32_t slot = 0; slot < options_.members; ++slot) {
    Member& member = members_[slot];
    oracle::Bytes& bytes = member.expected_outside;
    bytes.resize(member.memory->size_bytes());
    prng_.Fill(bytes);
    std::copy(areas[slot].begin(), areas[slot].end(),
              bytes.begin() + static_cast<ptrdiff_t>(member.data_offset_bytes));
    MDVOL_CHECK(WriteMember(*member.memory, 0, bytes.data(), bytes.size()).ok());
  }
}

oracle::Bytes StripeRig::ReadRaw(uint32_t slot, uint64_t begin, uint64_t length_bytes) {
  MemberDevice& memory = *members_[slot].memory;
  const uint64_t from = RoundDown(begin, options_.alignment_bytes);
  const uint64_t to = RoundUp(begin + length_bytes, options_.alignment_bytes);
  oracle::Bytes bytes(to - from);
  MDVOL_CHECK(ReadMember(memory, from, bytes.data(), bytes.size()).ok());
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(begin - from));
  bytes.resize(length_bytes);
  return bytes;
}

void StripeRig::WriteRaw(uint32_t slot, uint64_t begin, std::span<const std::byte> bytes) {
  MemberDevice& memory = *members_[slot].memory;
  const uint64_t from = RoundDown(begin, options_.alignment_bytes);
  const uint64_t to = RoundUp(begin + bytes.size(), options_.alignment_bytes);
  oracle::Bytes all = ReadRaw(slot, from, to - from);
  std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<ptrdiff_t>(begin - from));
  MDVOL_CHECK(WriteMember(memory, from, all.data(), all.size()).ok());
}

void StripeRig::Lose(uint32_t slot) {
  view_.slots[slot].device = nullptr;
  engine_.MembersChanged(view_);
}

void StripeRig::Scribble(uint32_t slot, uint64_t begin, uint64_t end) {
  Member& member = members_[slot];
  oracle::Bytes noise(end - begin);
  prng_.Fill(noise);
  WriteRaw(slot, member.data_offset_bytes + begin, noise);
  std::copy(
      noise.begin(), noise.end(),
      member.expected_outside.begin() + static_cast<ptrdiff_t>(member.data_offset_bytes + begin));
}

void StripeRig::FlipBit(uint32_t slot, uint64_t data_offset_bytes) {
  const uint64_t at = members_[slot].data_offset_bytes + data_offset_bytes;
  oracle::Bytes byte = ReadRaw(slot, at, 1);
  byte[0] ^= std::byte{0x10};
  WriteRaw(slot, at, byte);
}

void StripeRig::BeginRecovery(uint32_t slot, uint64_t valid_bytes) {
  view_.slots[slot].valid_bytes = valid_bytes;
  Scribble(slot, valid_bytes, geometry_.component_bytes());
}

void StripeRig::AddBadBlocks(uint32_t slot, uint64_t begin, uint64_t end) {
  Member& member = members_[slot];
  member.bad_blocks.Add({member.data_offset_bytes + begin, member.data_offset_bytes + end});
  view_.slots[slot].bad_blocks = &member.bad_blocks;
  Scribble(slot, begin, end);
}

std::span<std::byte> StripeRig::RandomBytes(uint64_t length_bytes) {
  buffer_.resize(length_bytes + 64);
  const std::span<std::byte> bytes =
      std::span(buffer_).subspan(prng_.Below(4) * (1 + prng_.Below(16)), length_bytes);
  prng_.Fill(bytes);
  return bytes;
}

EngineResult StripeRig::Write(uint64_t offset_bytes, uint64_t length_bytes) {
  const std::span<std::byte> data = RandomBytes(length_bytes);
  EngineResult result = engine_.Write(view_, offset_bytes, data);
  model_.Write(offset_bytes, data);
  if (result.error != 0) {
    model_.Forget(offset_bytes, length_bytes);
  }
  return result;
}

EngineResult StripeRig::Zero(uint64_t offset_bytes, uint64_t length_bytes) {
  EngineResult result = engine_.Zero(view_, offset_bytes, length_bytes);
  model_.Zero(offset_bytes, length_bytes);
  if (result.error != 0) {
    model_.Forget(offset_bytes, length_bytes);
  }
  return result;
}

EngineResult StripeRig::Read(uint64_t offset_bytes, uint64_t length_bytes) {
  const std::span<std::byte> data = RandomBytes(length_bytes);
  EngineResult result = engine_.Read(view_, offset_bytes, data);
  if (result.error == 0) {
    const auto difference = model_.FirstDifference(offset_bytes, data);
    EXPECT_FALSE(difference.has_value())
        << "read " << offset_bytes << "+" << length_bytes << ": wrong at " << *difference;
  }
  return result;
}

::testing::AssertionResult StripeRig::ReadsWithout(std::span<const uint32_t> lost) {
  MemberView view = view_;
  for (const uint32_t slot : lost) {
    view.slots[slot].device = nullptr;
  }
  StripeEngine engine(geometry_, NoDoubt);
  std::vector<std::byte> volume(geometry_.volume_bytes());
  const EngineResult result = engine.Read(view, 0, volume);
  if (result.error != 0) {
    return ::testing::AssertionFailure() << "read failed with errno " << result.error;
  }
  if (const auto difference = model_.FirstDifference(0, volume)) {
    return ::testing::AssertionFailure() << "wrong at volume offset " << *difference;
  }
  return ::testing::AssertionSuccess();
}

bool StripeRig::IsJudged(uint32_t slot, uint64_t data_offset_bytes,
                         const std::vector<bool>& known_columns) {
  const Member& member = members_[slot];
  const uint64_t absolute = member.data_offset_bytes + data_offset_bytes;
  if (member.bad_blocks.Touches(absolute, absolute + 1)) {
    return false;
  }
  const MemberLocation location = geometry_.LocateOnMember(slot, data_offset_bytes);
  return location.role.kind == ChunkKind::kData ? model_.IsKnown(location.volume_offset_bytes)
                                                : known_columns[data_offset_bytes];
}

::testing::AssertionResult StripeRig::MemberAgrees(uint32_t slot, const oracle::Bytes& expected,
                                                   const std::vector<bool>& known_columns) {
  const Member& member = members_[slot];
  const oracle::Bytes actual = ReadRaw(slot, 0, member.memory->size_bytes());
  const uint64_t unit = view_.alignment_bytes;
  const uint64_t valid = view_.slots[slot].valid_bytes;
  for (uint64_t at = 0; at < actual.size(); ++at) {
    const uint64_t data_at = at - member.data_offset_bytes;  // huge before the data area
    if (data_at < valid) {
      if (actual[at] != expected[data_at] && IsJudged(slot, data_at, known_columns)) {
        const char* const kinds[] = {"data", "P", "Q"};
        const MemberLocation location = geometry_.LocateOnMember(slot, data_at);
        return ::testing::AssertionFailure()
               << "slot " << slot << ", stripe " << location.stripe << ", column "
               << location.chunk_offset_bytes << ": "
               << kinds[static_cast<size_t>(location.role.kind)] << " is wrong";
      }
    } else if ((data_at >= geometry_.component_bytes() || data_at >= RoundUp(valid, unit)) &&
               actual[at] != member.expected_outside[at]) {
      return ::testing::AssertionFailure()
             << "slot " << slot << ": byte " << at << " of the member was touched, data offset "
             << member.data_offset_bytes << ", checkpoint " << valid;
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult StripeRig::MembersAgree() {
  const auto expected = oracle::MembersOf(Shape(), model_.bytes());
  std::vector<bool> known_columns(geometry_.component_bytes(), true);
  for (uint64_t at = 0; at < geometry_.volume_bytes(); ++at) {
    if (!model_.IsKnown(at)) {
      const VolumeLocation location = geometry_.Locate(at);
      known_columns[location.data_offset_bytes] = false;
    }
  }
  for (uint32_t slot = 0; slot < options_.members; ++slot) {
    if (!view_.slots[slot].present()) {
      continue;
    }
    if (auto agrees = MemberAgrees(slot, expected[slot], known_columns); !agrees) {
      return agrees;
    }
  }
  return ::testing::AssertionSuccess();
}

std::vector<uint64_t> StripeRig::InconsistentStripes() {
  std::vector<oracle::Bytes> areas;
  for (uint32_t slot = 0; slot < options_.members; ++slot) {
    areas.push_back(DataArea(slot));
  }
  return oracle::InconsistentStripes(Shape(), areas);
}

StripeRig::Traffic StripeRig::TrafficOf(uint32_t slot) {
  const MemberIoCounts now = members_[slot].counter->Counts();
  const MemberIoCounts& then = members_[slot].taken;
  return {.reads = now.reads.requests - then.reads.requests,
          .read_bytes = now.reads.bytes - then.reads.bytes,
          .writes = now.writes.requests - then.writes.requests,
          .written_bytes = now.writes.bytes - then.writes.bytes};
}

StripeRig::Traffic StripeRig::TakeTraffic() {
  Traffic total;
  for (uint32_t slot = 0; slot < options_.members; ++slot) {
    const Traffic one = TrafficOf(slot);
    total.reads += one.reads;
    total.read_bytes += one.read_bytes;
    total.writes += one.writes;
    total.written_bytes += one.written_bytes;
    members_[slot].taken = members_[slot].counter->Counts();
  }
  return total;
}

}  // namespace mdvol::testing
