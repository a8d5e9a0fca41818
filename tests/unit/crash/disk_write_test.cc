// When a recorded change may be on the disk, and when it is.

#include "tests/crash/disk_write.h"

#include <gtest/gtest.h>

namespace mdvol::crash {
namespace {

using testing::kNever;
using testing::RecordedRequest;
using testing::RecordedRequests;

RecordedRequest Write(size_t member, uint64_t offset, uint64_t length, size_t ended_at) {
  RecordedRequest request;
  request.member = member;
  request.kind = IoKind::kWrite;
  request.offset_bytes = offset;
  request.length_bytes = length;
  request.bytes.assign(length, std::byte{1});
  request.ended_at = ended_at;
  return request;
}

RecordedRequest Flush(size_t member, size_t ended_at) {
  RecordedRequest request;
  request.member = member;
  request.kind = IoKind::kFlush;
  request.ended_at = ended_at;
  return request;
}

TEST(DiskWriteTest, IsDurableOnceAFlushOfItsMemberHasEnded) {
  const RecordedRequests log = {Write(0, 0, 512, 1), Flush(1, 2), Flush(0, 4), Flush(1, 4)};
  const auto writes = WritesOf(log);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].visible_at, 0U);
  EXPECT_EQ(writes[0].durable_at, 4U);
  EXPECT_FALSE(writes[0].IsPending(0));
  EXPECT_TRUE(writes[0].IsPending(1));
  EXPECT_TRUE(writes[0].IsPending(3));
  EXPECT_FALSE(writes[0].IsPending(4));
  EXPECT_TRUE(writes[0].IsDurable(4));
}

TEST(DiskWriteTest, IsNotCoveredByAFlushThatBeganBeforeItsEnd) {
  const RecordedRequests log = {Write(0, 0, 512, 2), Flush(0, 2)};
  EXPECT_EQ(WritesOf(log)[0].durable_at, kNever);
}

TEST(DiskWriteTest, IsNotCoveredByAFlushThatFailed) {
  RecordedRequests log = {Write(0, 0, 512, 1), Flush(0, 2)};
  log[1].error = EIO;
  EXPECT_EQ(WritesOf(log)[0].durable_at, kNever);
}

TEST(DiskWriteTest, IsNeverCertainWhenItFailedItself) {
  RecordedRequests log = {Write(0, 0, 512, 1), Flush(0, 2)};
  log[0].error = EIO;
  EXPECT_EQ(WritesOf(log)[0].durable_at, kNever);
  EXPECT_TRUE(WritesOf(log)[0].IsPending(2));
}

TEST(DiskWriteTest, HasTheZeroesOfADiscard) {
  RecordedRequests log = {Write(0, 512, 1024, 1)};
  log[0].kind = IoKind::kZero;
  log[0].bytes.clear();
  EXPECT_EQ(WritesOf(log)[0].bytes, std::vector<std::byte>(1024));
}

TEST(DiskWriteTest, CountsAtomsThatItTouchesInPart) {
  EXPECT_EQ(WritesOf({Write(0, 512, 512, 1)})[0].Atoms(), 1U);
  EXPECT_EQ(WritesOf({Write(0, 511, 2, 1)})[0].Atoms(), 2U);
  EXPECT_EQ(WritesOf({Write(0, 100, 1024, 1)})[0].Atoms(), 3U);
}

}  // namespace
}  // namespace mdvol::crash
