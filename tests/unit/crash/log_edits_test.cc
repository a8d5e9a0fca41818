// Marks that are taken away, and bugs that are planted.

#include "tests/crash/log_edits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>

#include "core/metadata/bitmap.h"
#include "core/metadata/superblock.h"

namespace mdvol::crash {
namespace {

using testing::RecordedRequest;
using testing::RecordedRequests;

constexpr MemberAreas kAreas{.super = {4096, 8192},
                             .bitmap = {8192, 12288},
                             .bad_blocks = {12288, 16384},
                             .data = {65536, 131072}};

class LogEditsTest : public ::testing::Test {
 protected:
  void Write(uint64_t offset, std::vector<std::byte> bytes) {
    RecordedRequest request;
    request.kind = IoKind::kWrite;
    request.offset_bytes = offset;
    request.length_bytes = bytes.size();
    request.bytes = std::move(bytes);
    request.ended_at = log_.size() + 1;
    log_.push_back(std::move(request));
  }
  void WriteBits(uint8_t bits) {
    std::vector<std::byte> page(4096);
    page[kBitmapSuperBytes] = std::byte{bits};
    page[0] = std::byte{0x62};
    Write(kAreas.bitmap.begin, page);
  }
  void WriteSuper(uint64_t resync_offset) {
    Superblock super{};
    super.max_dev = 4;
    super.resync_offset = resync_offset;
    SealSuperblock(super);
    const auto bytes = std::as_bytes(std::span(&super, 1));
    Write(kAreas.super.begin, {bytes.begin(), bytes.end()});
  }
  void Flush() {
    RecordedRequest request;
    request.kind = IoKind::kFlush;
    request.ended_at = log_.size() + 1;
    log_.push_back(std::move(request));
  }
  RecordedWrites Run() { return {kAreas, &log_, WritesOf(log_)}; }

  RecordedRequests log_;
};

Superblock SuperIn(const DiskWrite& write) {
  Superblock super;
  std::memcpy(&super, write.bytes.data(), sizeof(super));
  return super;
}

TEST_F(LogEditsTest, SuppressedMarksSayCleanAndHaveNoBits) {
  WriteSuper(0);
  WriteBits(0xff);
  Write(kAreas.data.begin, std::vector<std::byte>(512, std::byte{1}));
  RecordedWrites run = Run();
  SuppressMarks(&run);
  Superblock super = SuperIn(run.writes[0]);
  EXPECT_EQ(super.resync_offset, kResyncDone);
  const uint32_t checksum = super.sb_csum;
  SealSuperblock(super);
  EXPECT_EQ(super.sb_csum, checksum);
  EXPECT_EQ(run.writes[1].bytes[kBitmapSuperBytes], std::byte{0});
  EXPECT_EQ(run.writes[1].bytes[0], std::byte{0x62});
  EXPECT_EQ(run.writes[2].bytes[0], std::byte{1});
}

TEST_F(LogEditsTest, AnEarlyClearComesBeforeTheFlushThatShouldPrecedeIt) {
  WriteBits(0x03);
  Flush();
  Write(kAreas.data.begin, std::vector<std::byte>(512));
  Flush();
  Flush();
  WriteBits(0x01);
  RecordedWrites run = Run();
  PlantEarlyBitClear(&run);
  ASSERT_EQ(run.writes.size(), 3U);
  EXPECT_EQ(run.writes[0].visible_at, 0U);
  EXPECT_EQ(run.writes[2].visible_at, 3U);
  EXPECT_EQ(run.writes[2].bytes[kBitmapSuperBytes], std::byte{0x01});
}

TEST_F(LogEditsTest, BitsThatAreSetStayWhereTheyAre) {
  WriteBits(0x01);
  Flush();
  WriteBits(0x03);
  RecordedWrites run = Run();
  PlantEarlyBitClear(&run);
  EXPECT_EQ(run.writes[1].visible_at, 2U);
}

TEST_F(LogEditsTest, ALateSuperblockComesWithTheNextOne) {
  WriteSuper(0);
  Flush();
  Write(kAreas.data.begin, std::vector<std::byte>(512));
  WriteSuper(1);
  Flush();
  RecordedWrites run = Run();
  PlantLateSuperblock(&run);
  ASSERT_EQ(run.writes.size(), 3U);
  EXPECT_EQ(run.writes[0].offset_bytes, kAreas.data.begin);
  EXPECT_EQ(SuperIn(run.writes[1]).resync_offset, 0U);
  EXPECT_EQ(run.writes[1].visible_at, 3U);
  EXPECT_EQ(run.writes[1].durable_at, 4U);
  EXPECT_EQ(SuperIn(run.writes[2]).resync_offset, 1U);
  EXPECT_EQ(run.writes[2].visible_at, log_.size());
}

}  // namespace
}  // namespace mdvol::crash
