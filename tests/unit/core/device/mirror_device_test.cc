// MirrorDevice: what goes where, and that a replacement in trouble is nobody's trouble.

#include "core/device/mirror_device.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/unit/core/device/test_devices.h"

namespace mdvol {
namespace {

using testing::Flush;
using testing::LoggedCall;
using testing::LoggingDevice;
using testing::Prng;
using testing::Read;
using testing::RequestFor;
using testing::RunRequest;
using testing::TestSeed;
using testing::Write;
using testing::Zero;

constexpr uint64_t kOriginalOffset = 8192;
constexpr uint64_t kReplacementOffset = 4096;
constexpr uint64_t kData = 64 * kKiB;

class MirrorDeviceTest : public ::testing::Test {
 protected:
  MirrorDeviceTest()
      : original_(NewMemoryDevice("original", kOriginalOffset + kData + 8192), &log_),
        replacement_(NewMemoryDevice("replacement", kReplacementOffset + kData + 12288,
                                     {.alignment_bytes = 512}),
                     &log_),
        mirror_(original_, replacement_, {kOriginalOffset, kReplacementOffset, kData},
                {.run = [this](uint64_t begin, uint64_t end) { return RunOf(begin, end); },
                 .still_bad = [this] { ++still_bad_; }}) {}

  // [bad_begin_, bad_end_) of the replacement is known to be bad.
  MirrorDevice::Run RunOf(uint64_t begin, uint64_t end) const {
    if (begin < bad_begin_) {
      return {std::min(bad_begin_, end), false};
    }
    return begin < bad_end_ ? MirrorDevice::Run{std::min(bad_end_, end), true}
                            : MirrorDevice::Run{end, false};
  }

  std::vector<std::byte> Bytes(MemberDevice& device, uint64_t offset, uint64_t length) {
    std::vector<std::byte> bytes(length);
    EXPECT_TRUE(ReadMember(device, offset, bytes.data(), length).ok());
    return bytes;
  }

  // How many calls of this kind have reached a device.
  size_t Count(const std::string& device, IoKind kind) const {
    return static_cast<size_t>(std::count_if(log_.begin(), log_.end(), [&](const LoggedCall& call) {
      return call.device == device && call.kind == kind && call.step == 'S';
    }));
  }

  uint64_t bad_begin_ = 0;
  uint64_t bad_end_ = 0;
  int still_bad_ = 0;
  std::vector<LoggedCall> log_;
  LoggingDevice original_;
  LoggingDevice replacement_;
  MirrorDevice mirror_;
};

TEST_F(MirrorDeviceTest, LooksLikeTheOriginal) {
  EXPECT_EQ(mirror_.path(), "original");
  EXPECT_EQ(mirror_.size_bytes(), original_.size_bytes());
  EXPECT_EQ(mirror_.alignment_bytes(), 512u) << "the replacement wants it";
  EXPECT_FALSE(mirror_.read_only());
}

TEST_F(MirrorDeviceTest, ReadsAndFlushesGoToTheOriginalAlone) {
  alignas(512) std::byte bytes[512];
  EXPECT_EQ(Read(mirror_, kOriginalOffset, bytes), 0);
  EXPECT_EQ(Flush(mirror_), 0);
  EXPECT_EQ(Count("original", IoKind::kRead), 1u);
  EXPECT_EQ(Count("original", IoKind::kFlush), 1u);
  EXPECT_EQ(Count("replacement", IoKind::kRead) + Count("replacement", IoKind::kFlush), 0u);
}

// Any write or zero, inside, outside or across the ends of the data area, in one buffer or several.
TEST_F(MirrorDeviceTest, TheDataAreasStayAlikeAndNothingElseIsTouched) {
  Prng prng(TestSeed("Mirror"));
  const auto metadata = Bytes(replacement_, 0, kReplacementOffset);
  const auto behind = Bytes(replacement_, kReplacementOffset + kData, 12288);
  for (int round = 0; round < 300; ++round) {
    const uint64_t length = 512 * prng.Between(1, 40);
    const uint64_t offset = 512 * prng.Below((mirror_.size_bytes() - length) / 512 + 1);
    std::vector<std::byte> bytes(length + 512);
    prng.Fill(bytes);
    IoRequest request;
    request.offset_bytes = offset;
    request.length_bytes = length;
    request.kind = prng.OneIn(4) ? IoKind::kZero : IoKind::kWrite;
    auto* const at =
        reinterpret_cast<std::byte*>(RoundUp(reinterpret_cast<uintptr_t>(bytes.data()), 512));
    for (uint64_t done = 0; request.kind == IoKind::kWrite && done < length;) {
      const uint64_t part = std::min(length - done, 512 * prng.Between(1, 20));
      request.buffers.push_back({at + done, part});
      done += part;
    }
    ASSERT_EQ(RunRequest(mirror_, request), 0);
    ASSERT_EQ(Bytes(original_, kOriginalOffset, kData),
              Bytes(replacement_, kReplacementOffset, kData));
  }
  EXPECT_EQ(Bytes(replacement_, 0, kReplacementOffset), metadata);
  EXPECT_EQ(Bytes(replacement_, kReplacementOffset + kData, 12288), behind);
  EXPECT_EQ(mirror_.replacement_error(), 0);
}

TEST_F(MirrorDeviceTest, BothWorkSideBySide) {
  alignas(512) std::byte data[512] = {};
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), 0);
  ASSERT_EQ(log_.size(), 4u);
  EXPECT_EQ(log_[0].step, 'S');
  EXPECT_EQ(log_[1].step, 'S');
  EXPECT_EQ(log_[1].offset_bytes, kReplacementOffset);
  EXPECT_EQ(log_[2].step, 'W');
}

TEST_F(MirrorDeviceTest, AResyncsWriteIsOneOnTheReplacementToo) {
  alignas(512) std::byte data[2 * 512] = {};
  bad_begin_ = kReplacementOffset;
  bad_end_ = bad_begin_ + 512;
  std::vector<bool> are_sync;
  replacement_.set_fails([&](const IoRequest& request) {
    are_sync.push_back(request.is_sync);
    return request.offset_bytes < bad_end_ ? EIO : 0;
  });
  IoRequest request = RequestFor(IoKind::kWrite, kOriginalOffset, data);
  for (const bool is_sync : {true, false}) {
    request.is_sync = is_sync;
    EXPECT_EQ(RunRequest(mirror_, request), 0);
  }
  EXPECT_EQ(are_sync, (std::vector<bool>{true, true, true, false, false, false}))
      << "in one and then in two parts";
}

TEST_F(MirrorDeviceTest, AReplacementThatFailsFailsNoRequestAndIsLeftAlone) {
  alignas(512) std::byte data[512] = {};
  int error = EIO;
  replacement_.set_fails([&](const IoRequest&) { return error; });
  EXPECT_EQ(Write(mirror_, 512, data), 0);
  EXPECT_EQ(mirror_.replacement_error(), 0) << "metadata is none of its business";
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), 0);
  EXPECT_EQ(mirror_.replacement_error(), EIO);
  error = ENXIO;
  EXPECT_EQ(Zero(mirror_, kOriginalOffset, 512), 0);
  EXPECT_EQ(mirror_.replacement_error(), EIO) << "the first one counts";
  EXPECT_EQ(Count("replacement", IoKind::kZero), 0u);
}

// What is known to be bad may fail, as a block of any member may; what lies beside it is written.
TEST_F(MirrorDeviceTest, ABlockThatIsKnownToBeBadMayFail) {
  alignas(512) std::byte data[4 * 512];
  Prng(TestSeed("MirrorBad")).Fill(data);
  bad_begin_ = kReplacementOffset + 1024;
  bad_end_ = bad_begin_ + 512;
  uint64_t fails_until = bad_end_;
  replacement_.set_fails([&](const IoRequest& request) {
    return request.kind != IoKind::kRead && request.offset_bytes < fails_until &&
                   request.offset_bytes + request.length_bytes > bad_begin_
               ? EIO
               : 0;
  });
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), 0);
  EXPECT_EQ(mirror_.replacement_error(), 0);
  EXPECT_EQ(still_bad_, 1);
  const std::vector<std::byte> stored = Bytes(replacement_, kReplacementOffset, sizeof(data));
  EXPECT_TRUE(std::equal(data, data + 1024, stored.begin()));
  EXPECT_TRUE(std::equal(data + 1536, data + 2048, stored.begin() + 1536));
  EXPECT_EQ(Zero(mirror_, kOriginalOffset + 1024, 512), 0);
  EXPECT_EQ(mirror_.replacement_error(), 0);
  EXPECT_EQ(still_bad_, 2);
  fails_until += 512;  // its neighbour, which is not known to be
  EXPECT_EQ(Zero(mirror_, kOriginalOffset, 4 * 512), 0);
  EXPECT_EQ(mirror_.replacement_error(), EIO);
}

// So it is in a part of a write.
TEST_F(MirrorDeviceTest, NoSpaceBesideABadBlockIsTheReplacementsError) {
  alignas(512) std::byte data[4 * 512] = {};
  bad_begin_ = kReplacementOffset + 1024;
  bad_end_ = bad_begin_ + 512;
  replacement_.set_fails([this](const IoRequest& request) {
    return request.offset_bytes == bad_end_ ? ENOSPC : request.length_bytes == 2048 ? EIO : 0;
  });
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), 0);
  EXPECT_EQ(mirror_.replacement_error(), ENOSPC);
  EXPECT_EQ(still_bad_, 0);
}

TEST_F(MirrorDeviceTest, AReplacementWithoutSpaceFailsNoRequest) {
  alignas(512) std::byte data[512] = {};
  replacement_.set_fails([](const IoRequest&) { return EDQUOT; });
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), 0);
  EXPECT_EQ(mirror_.replacement_error(), EDQUOT);
}

// The original stays as it was, and the replacement has the new bytes: nobody could tell where.
TEST_F(MirrorDeviceTest, AnOriginalWithoutSpaceLetsTheReplacementGo) {
  alignas(512) std::byte data[512] = {};
  original_.set_fails([](const IoRequest&) { return ENOSPC; });
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), ENOSPC);
  EXPECT_EQ(mirror_.replacement_error(), ENOSPC);
}

TEST_F(MirrorDeviceTest, TheOriginalsErrorIsTheRequests) {
  alignas(512) std::byte data[512] = {};
  original_.set_fails([](const IoRequest&) { return EIO; });
  EXPECT_EQ(Write(mirror_, kOriginalOffset, data), EIO);
  EXPECT_EQ(Read(mirror_, kOriginalOffset, data), EIO);
  EXPECT_EQ(mirror_.replacement_error(), 0);
}

TEST(MirrorDeviceThreadsTest, ManyThreadsWriteAtOnce) {
  auto original = NewMemoryDevice("original", kOriginalOffset + kData);
  auto replacement = NewMemoryDevice("replacement", kReplacementOffset + kData);
  MirrorDevice mirror(*original, *replacement, {kOriginalOffset, kReplacementOffset, kData},
                      {.run =
                           [](uint64_t, uint64_t end) {
                             return MirrorDevice::Run{end, false};
                           },
                       .still_bad = [] {}});
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&mirror, t] {
      std::vector<std::byte> data(512, std::byte(t + 1));
      for (uint64_t i = 0; i < 32; ++i) {
        EXPECT_EQ(Write(mirror, kOriginalOffset + (t * 32 + i) * 512, data), 0);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<std::byte> a(kData);
  std::vector<std::byte> b(kData);
  EXPECT_EQ(Read(*original, kOriginalOffset, a), 0);
  EXPECT_EQ(Read(*replacement, kReplacementOffset, b), 0);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a[512 * 127], std::byte{4});
}

}  // namespace
}  // namespace mdvol
