// I10: the engine's scratch is enough for every plan, with as many members and chunks as large as
// md allows; it is never exceeded, for an executor that cannot get the scratch it needs aborts.
//
// The members keep nothing: what they hold is a function of the place, and writes are compared with
// what they must be by the tests that have fewer members.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/stripe/scratch.h"
#include "core/stripe/stripe_engine.h"
#include "gtest/gtest.h"
#include "tests/support/full.h"
#include "tests/support/stripes/stripe_rig.h"

namespace mdvol {
namespace {

using testing::FullRun;

// Reads zeroes, swallows writes, fails reads in [fail_begin, fail_end).
class VoidDevice final : public MemberDevice {
 public:
  explicit VoidDevice(uint64_t size_bytes) : size_bytes_(size_bytes) {}

  uint64_t fail_begin = 0;
  uint64_t fail_end = 0;

  const std::string& path() const override { return path_; }
  uint64_t size_bytes() const override { return size_bytes_; }
  uint32_t alignment_bytes() const override { return 4096; }
  bool read_only() const override { return false; }
  void Submit(IoRequest& request) override {
    request.error = 0;
    if (request.kind == IoKind::kRead) {
      for (const iovec& buffer : request.buffers) {
        std::memset(buffer.iov_base, 0, buffer.iov_len);
      }
      if (request.offset_bytes < fail_end &&
          request.offset_bytes + request.length_bytes > fail_begin) {
        request.error = EIO;
      }
    }
  }
  void Wait(IoRequest& /*request*/) override {}
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override { return offset_bytes; }
  absl::StatusOr<uint64_t> NextHole(uint64_t /*offset_bytes*/) override { return size_bytes_; }

 private:
  const std::string path_ = "void";
  const uint64_t size_bytes_;
};

class MemoryBoundTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kComponent = 2 * kMaxChunkBytes;
  // With 255 members a piece is one lane: many waves.
  static constexpr uint64_t kLength = 512 * kKiB;

  MemoryBoundTest() {
    view_.writable = true;
    view_.alignment_bytes = 4096;
    for (uint32_t slot = 0; slot < kMaxRaidDisks; ++slot) {
      devices_.push_back(std::make_unique<VoidDevice>(kComponent));
      view_.slots.push_back(
          {.device = devices_.back().get(), .data_offset_bytes = 0, .valid_bytes = kComponent});
    }
  }

  void Lose(uint32_t data_index) {
    view_.slots[geometry_.RolesOf(0).DataSlot(data_index)].device = nullptr;
  }

  // Reads and writes at an aligned and an odd address, and across the edge of two chunks.
  void ExpectAllWorks() {
    for (const uint64_t odd : {0u, 1u}) {
      for (const uint64_t at : {uint64_t{0}, 5 * kMaxChunkBytes - 256 * kKiB}) {
        const auto bytes = buffer_.span().subspan(odd, kLength);
        EXPECT_EQ(engine_.Read(view_, at + odd, bytes).error, 0);
        for (uint32_t rmw_level = 0; rmw_level < 3; ++rmw_level) {
          engine_.set_rmw_level(rmw_level);
          EXPECT_EQ(engine_.Write(view_, at + odd, bytes).error, 0);
        }
      }
    }
  }

  const ArrayGeometry geometry_ =
      *ArrayGeometry::Make(Layout::kLeftSymmetric, kMaxRaidDisks, kMaxChunkBytes, kComponent);
  std::vector<std::unique_ptr<VoidDevice>> devices_;
  MemberView view_;
  StripeEngine engine_{geometry_, testing::NoDoubt};
  AlignedBuffer buffer_{kLength + 4096};
};

TEST_F(MemoryBoundTest, ReadModifyWriteAndReconstructWrite) { ExpectAllWorks(); }

TEST_F(MemoryBoundTest, Degraded) {
  Lose(0);
  ExpectAllWorks();
  Lose(4);
  ExpectAllWorks();
}

TEST_F(MemoryBoundTest, WithoutParity) {
  view_.slots[geometry_.RolesOf(0).p_slot()].device = nullptr;
  ExpectAllWorks();
  view_.slots[geometry_.RolesOf(0).q_slot()].device = nullptr;
  ExpectAllWorks();
}

TEST_F(MemoryBoundTest, ReadErrors) {
  VoidDevice& device = *devices_[geometry_.RolesOf(0).DataSlot(0)];
  device.fail_begin = 64 * kKiB;
  device.fail_end = 80 * kKiB;
  view_.writable = false;
  const auto bytes = buffer_.span().subspan(0, kLength);
  EXPECT_EQ(engine_.Read(view_, 0, bytes).error, 0);
  EXPECT_EQ(engine_.Write(view_, kMaxChunkBytes, bytes).error, 0);
  Lose(1);
  EXPECT_EQ(engine_.Read(view_, 0, bytes).error, 0);
  EXPECT_EQ(engine_.Write(view_, kMaxChunkBytes, bytes).error, 0);
}

// Blocks in part on every member: each needs scratch twice.
TEST_F(MemoryBoundTest, EveryChunkWrittenInPart) {
  StripeLocks locks;
  std::vector<StripeStep> steps;
  for (const bool degraded : {false, true}) {
    if (degraded) {
      Lose(0);
      Lose(4);
    }
    for (uint32_t rmw_level = 0; rmw_level < 3; ++rmw_level) {
      steps.clear();
      StripeStep& step = steps.emplace_back(geometry_, view_, 0);
      for (uint32_t k = 0; k < geometry_.data_disks(); ++k) {
        step.extents.push_back({k, {100, 200}, ZeroChunk()});
        step.extents.push_back({k, {8192 + 7, 8192 + 4096 + 5}, ZeroChunk()});
      }
      WriteExecutor(steps, rmw_level).Run();
      EXPECT_TRUE(steps[0].errors.empty());
    }
  }
}

// Whole stripes, from an address that no member takes: 4 GiB through 2 MiB of scratch.
TEST_F(MemoryBoundTest, FullStripes) {
  const uint64_t columns = FullRun() ? kMaxChunkBytes : kMiB;
  for (const uint64_t odd : {0u, 1u}) {
    std::vector<StripeStep> steps;
    StripeStep& step = steps.emplace_back(geometry_, view_, 0);
    for (uint32_t k = 0; k < geometry_.data_disks(); ++k) {
      step.extents.push_back({k, {0, columns - odd}, ZeroChunk() + odd});
    }
    WriteExecutor(steps, 1).Run();
    EXPECT_TRUE(steps[0].errors.empty());
  }
}

}  // namespace
}  // namespace mdvol
