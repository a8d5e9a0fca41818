// What every kind of MemberDevice must do alike: files, buffered and on O_DIRECT, block devices,
// memory, and stacks of decorators.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/base/units.h"
#include "core/device/admission_device.h"
#include "core/device/counting_device.h"
#include "core/device/fault_device.h"
#include "core/device/file_device.h"
#include "core/device/memory_device.h"
#include "core/device/mirror_device.h"
#include "core/device/modelled_device.h"
#include "tests/support/seed.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/core/device/test_devices.h"
#include "tests/unit/core/device/test_files.h"

namespace mdvol {
namespace {

using testing::Flush;
using testing::FlushRequest;
using testing::LoopDevice;
using testing::Prng;
using testing::Read;
using testing::RequestFor;
using testing::RunRequest;
using testing::TemporaryFolder;
using testing::TestSeed;
using testing::Write;
using testing::Zero;

constexpr uint64_t kSizeBytes = kMiB + 20 * kKiB;  // no multiple of MemoryDevice's blocks

// What a kind of device needs to live on.
struct Ground {
  explicit Ground(const std::string& folder) : temp(folder) {}
  TemporaryFolder temp{"/dev/shm"};
  std::unique_ptr<LoopDevice> loop;
  std::vector<std::unique_ptr<MemberDevice>> below;  // what a device does not own
};

using Open = std::unique_ptr<MemberDevice> (*)(Ground& ground, bool read_only);

struct Kind {
  const char* name;
  bool on_disk;
  Open open;
};

// The same image again when it is opened a second time, as read-only.
std::unique_ptr<MemberDevice> OpenImage(Ground& ground, const FileDeviceOptions& options) {
  testing::MakeSparseFile(ground.temp.Path("image"), kSizeBytes);
  auto device = OpenFileDevice(ground.temp.Path("image"), options);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

std::unique_ptr<MemberDevice> OpenBuffered(Ground& ground, bool read_only) {
  return OpenImage(ground, {.read_only = read_only});
}

std::unique_ptr<MemberDevice> OpenDirect(Ground& ground, bool read_only) {
  return OpenImage(ground, {.read_only = read_only, .direct = true});
}

std::unique_ptr<MemberDevice> OpenLoop(Ground& ground, const FileDeviceOptions& options) {
  testing::MakeSparseFile(ground.temp.Path("image"), kSizeBytes);
  if (ground.loop == nullptr) {
    ground.loop = LoopDevice::Attach(ground.temp.Path("image"));
  }
  auto device = OpenFileDevice(ground.loop->path(), options);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.ok() ? *std::move(device) : nullptr;
}

std::unique_ptr<MemberDevice> OpenBlockDevice(Ground& ground, bool read_only) {
  return OpenLoop(ground, {.read_only = read_only});
}

std::unique_ptr<MemberDevice> OpenBlockDeviceDirect(Ground& ground, bool read_only) {
  return OpenLoop(ground, {.read_only = read_only, .direct = true});
}

std::unique_ptr<MemberDevice> OpenMemory(Ground& /*ground*/, bool read_only) {
  return NewMemoryDevice("memory", kSizeBytes, {.read_only = read_only});
}

std::unique_ptr<MemberDevice> OpenAlignedMemory(Ground& /*ground*/, bool read_only) {
  return NewMemoryDevice("memory", kSizeBytes, {.alignment_bytes = 512, .read_only = read_only});
}

std::unique_ptr<MemberDevice> OpenCounted(Ground& ground, bool read_only) {
  return NewCountingDevice(OpenBuffered(ground, read_only), SystemClock());
}

// With rules that never fire, and one that changes nothing.
std::unique_ptr<MemberDevice> OpenFaulty(Ground& ground, bool read_only) {
  auto device = NewFaultDevice(OpenMemory(ground, read_only), 1, SystemClock());
  device->AddRule({.kind = FaultKind::kError, .probability = 0});
  device->AddRule({.kind = FaultKind::kCorrupt, .nth = std::numeric_limits<uint64_t>::max()});
  device->AddRule({.kind = FaultKind::kDelay, .delay_ns = 1});
  return device;
}

// Almost as fast as what it stands on, so that only the bytes are seen.
std::unique_ptr<MemberDevice> OpenModelled(Ground& ground, bool read_only) {
  return NewModelledDevice(OpenMemory(ground, read_only), {1, 1, 1'000'000'000'000, 2},
                           SystemClock());
}

// One write at a time and no bytes to spare: each goes through the queue.
class StingyJudge final : public AdmissionJudge {
 public:
  AdmissionRuling Judge(const AdmissionFacts& /*facts*/) override {
    return {{.most_writes = 1, .most_bytes = 1}, false, 0};
  }
  uint64_t version() const override { return 0; }
};

std::unique_ptr<MemberDevice> OpenAdmitted(Ground& ground, bool read_only) {
  auto device = NewAdmissionDevice(NewCountingDevice(OpenMemory(ground, read_only), SystemClock()),
                                   std::make_unique<StingyJudge>(), SystemClock());
  device->SetRange(0, kSizeBytes);
  return device;
}

std::unique_ptr<MemberDevice> OpenStack(Ground& ground, bool read_only) {
  return NewFaultDevice(
      NewCountingDevice(NewFaultDevice(OpenDirect(ground, read_only), 1, SystemClock()),
                        SystemClock()),
      2, SystemClock());
}

// With a replacement that keeps other data, at another place.
std::unique_ptr<MemberDevice> OpenMirror(Ground& ground, bool read_only) {
  ground.below.push_back(OpenMemory(ground, read_only));
  ground.below.push_back(NewMemoryDevice("replacement", kSizeBytes, {.alignment_bytes = 512}));
  const MirrorDevice::Areas areas{8192, 512, kSizeBytes - 8192};
  return std::make_unique<MirrorDevice>(
      *ground.below.end()[-2], *ground.below.back(), areas,
      MirrorDevice::BadBlocks{.run =
                                  [](uint64_t, uint64_t end) {
                                    return MirrorDevice::Run{end, false};
                                  },
                              .still_bad = [] {}});
}

std::vector<Kind> Kinds() {
  std::vector<Kind> kinds = {{"BufferedFileOnTmpfs", false, OpenBuffered},
                             {"BufferedFileOnDisk", true, OpenBuffered},
                             {"DirectFile", true, OpenDirect},
                             {"Memory", false, OpenMemory},
                             {"AlignedMemory", false, OpenAlignedMemory},
                             {"Counting", false, OpenCounted},
                             {"Fault", false, OpenFaulty},
                             {"Modelled", false, OpenModelled},
                             {"Admitted", false, OpenAdmitted},
                             {"Stack", true, OpenStack},
                             {"Mirror", false, OpenMirror}};
  if (testing::CanMakeLoopDevices()) {
    kinds.push_back({"BlockDevice", false, OpenBlockDevice});
    kinds.push_back({"DirectBlockDevice", true, OpenBlockDeviceDirect});
  }
  return kinds;
}

class DeviceConformanceTest : public ::testing::TestWithParam<Kind> {
 protected:
  DeviceConformanceTest()
      : ground_(GetParam().on_disk ? testing::FolderForDirectIo() : "/dev/shm"),
        device_(GetParam().open(ground_, false)) {}

  uint64_t unit() const { return device_->alignment_bytes(); }

  void ReopenReadOnly() {
    device_.reset();
    device_ = GetParam().open(ground_, true);
  }

  // All bytes of the device.
  std::vector<std::byte> Contents() {
    AlignedBuffer bytes(kSizeBytes);
    EXPECT_EQ(Read(*device_, 0, bytes.span()), 0);
    return {bytes.span().begin(), bytes.span().end()};
  }

  Ground ground_;
  std::unique_ptr<MemberDevice> device_;
};

AlignedBuffer Pattern(uint64_t seed, size_t length_bytes) {
  AlignedBuffer bytes(length_bytes);
  Prng(seed).Fill(bytes.span());
  return bytes;
}

TEST_P(DeviceConformanceTest, HasASizeAndAnAlignment) {
  EXPECT_EQ(device_->size_bytes(), kSizeBytes);
  EXPECT_TRUE(IsPowerOfTwo(unit()));
  EXPECT_LE(unit(), 4096u);
  EXPECT_FALSE(device_->read_only());
  EXPECT_FALSE(device_->path().empty());
}

TEST_P(DeviceConformanceTest, ReadsAsZeroesAtFirst) {
  EXPECT_EQ(Contents(), std::vector<std::byte>(kSizeBytes));
}

TEST_P(DeviceConformanceTest, AgreesWithAPlainArrayUnderRandomRequests) {
  Prng prng(TestSeed("DeviceConformance"));
  std::vector<std::byte> model(kSizeBytes);
  AlignedBuffer data(kSizeBytes);
  for (int step = 0; step < 300; ++step) {
    const uint64_t offset_bytes = RoundDown(prng.Below(kSizeBytes), unit());
    const uint64_t longest_bytes =
        std::min(kSizeBytes - offset_bytes, prng.OneIn(4) ? kSizeBytes : 40 * kKiB);
    const size_t length_bytes = RoundDown(prng.Below(longest_bytes + 1), unit());
    const std::span<std::byte> part = data.span().first(length_bytes);
    const auto modelled = model.begin() + static_cast<ptrdiff_t>(offset_bytes);
    switch (prng.Below(4)) {
      case 0:
        ASSERT_EQ(Zero(*device_, offset_bytes, length_bytes), 0);
        std::fill_n(modelled, length_bytes, std::byte{0});
        break;
      case 1:
        ASSERT_EQ(Read(*device_, offset_bytes, part), 0);
        ASSERT_TRUE(std::equal(part.begin(), part.end(), modelled)) << "step " << step;
        break;
      default:
        prng.Fill(part);
        ASSERT_EQ(Write(*device_, offset_bytes, part), 0);
        std::copy(part.begin(), part.end(), modelled);
        break;
    }
  }
  EXPECT_EQ(Flush(*device_), 0);
  EXPECT_EQ(Contents(), model);
}

TEST_P(DeviceConformanceTest, TakesMoreBuffersThanOneSystemCallDoes) {
  constexpr size_t kBuffers = 2500;
  const size_t buffer_bytes = std::max<uint64_t>(unit(), 16);
  const size_t buffers = std::min<size_t>(kBuffers, kSizeBytes / buffer_bytes);
  AlignedBuffer data = Pattern(7, buffers * buffer_bytes);
  for (const IoKind kind : {IoKind::kWrite, IoKind::kRead}) {
    AlignedBuffer target(data.size());
    std::memcpy(target.data(), data.data(), kind == IoKind::kWrite ? data.size() : 0);
    IoRequest request;
    request.kind = kind;
    request.length_bytes = data.size();
    // Backwards in memory, so that no two of them touch.
    for (size_t i = buffers; i-- > 0;) {
      request.buffers.push_back({target.data() + i * buffer_bytes, buffer_bytes});
    }
    ASSERT_EQ(RunRequest(*device_, request), 0);
    EXPECT_EQ(std::memcmp(target.data(), data.data(), data.size()), 0);
  }
}

TEST_P(DeviceConformanceTest, RefusesToLeaveTheDevice) {
  AlignedBuffer data = Pattern(3, 8192);
  const uint64_t last = kSizeBytes - 4096;
  constexpr uint64_t kFar = (uint64_t{1} << 63) + 4096;
  constexpr uint64_t kWraps = std::numeric_limits<uint64_t>::max() - 4095;
  for (const uint64_t offset_bytes :
       {last, kSizeBytes, kSizeBytes + unit(), kSizeBytes + 4096, kFar, kWraps}) {
    EXPECT_EQ(Read(*device_, offset_bytes, data.span()), EIO) << offset_bytes;
    EXPECT_EQ(Write(*device_, offset_bytes, data.span()), EIO) << offset_bytes;
    EXPECT_EQ(Zero(*device_, offset_bytes, 8192), EIO) << offset_bytes;
  }
  EXPECT_EQ(Zero(*device_, 4096, RoundDown(std::numeric_limits<uint64_t>::max(), 4096)), EIO);
  EXPECT_EQ(Contents(), std::vector<std::byte>(kSizeBytes));
  EXPECT_EQ(Write(*device_, last, data.span().first(4096)), 0);
}

TEST_P(DeviceConformanceTest, RefusesMisalignedRequests) {
  AlignedBuffer data = Pattern(3, 8192);
  const int expected = unit() > 1 ? EINVAL : 0;
  EXPECT_EQ(Read(*device_, 1, data.span().first(unit())), expected);
  EXPECT_EQ(Write(*device_, 1, data.span().first(unit())), expected);
  EXPECT_EQ(Zero(*device_, 1, unit()), expected);
  EXPECT_EQ(Zero(*device_, 0, unit() + 1), expected);
  EXPECT_EQ(Read(*device_, 0, data.span().first(unit() + 1)), expected);
  EXPECT_EQ(Read(*device_, 0, data.span().subspan(1, unit())), expected);
  IoRequest halves = RequestFor(IoKind::kRead, 0, data.span().first(unit()));
  halves.buffers.assign({{data.data(), unit() / 2}, {data.data() + 4096, unit() - unit() / 2}});
  EXPECT_EQ(RunRequest(*device_, halves), expected);
}

TEST_P(DeviceConformanceTest, DoesNothingForEmptyRequests) {
  EXPECT_EQ(Read(*device_, 0, {}), 0);
  EXPECT_EQ(Write(*device_, kSizeBytes, {}), 0);
  EXPECT_EQ(Zero(*device_, 4096, 0), 0);
  EXPECT_EQ(Contents(), std::vector<std::byte>(kSizeBytes));
}

TEST_P(DeviceConformanceTest, ZeroingKeepsTheNeighbours) {
  AlignedBuffer data = Pattern(5, kSizeBytes);
  ASSERT_EQ(Write(*device_, 0, data.span()), 0);
  std::vector<std::byte> expected(data.span().begin(), data.span().end());
  const uint64_t u = unit();
  for (const auto& [offset_bytes, length_bytes] :
       std::vector<std::pair<uint64_t, uint64_t>>{{u, u},
                                                  {64 * kKiB - u, 2 * u},
                                                  {128 * kKiB, 64 * kKiB},
                                                  {256 * kKiB + u, 256 * kKiB},
                                                  {kSizeBytes - u, u}}) {
    ASSERT_EQ(Zero(*device_, offset_bytes, length_bytes), 0);
    std::fill_n(expected.begin() + static_cast<ptrdiff_t>(offset_bytes), length_bytes,
                std::byte{0});
  }
  EXPECT_TRUE(Contents() == expected);
}

TEST_P(DeviceConformanceTest, ReadOnlyRefusesEveryChange) {
  AlignedBuffer data = Pattern(9, 4096);
  ASSERT_EQ(Write(*device_, 0, data.span()), 0);
  ASSERT_EQ(Flush(*device_), 0);
  ReopenReadOnly();
  EXPECT_TRUE(device_->read_only());
  const std::vector<std::byte> before = Contents();
  EXPECT_EQ(Write(*device_, 4096, data.span()), EBADF);
  EXPECT_EQ(Write(*device_, kSizeBytes, data.span()), EBADF);
  EXPECT_EQ(Zero(*device_, 0, 4096), EBADF);
  EXPECT_EQ(Flush(*device_), 0);
  EXPECT_EQ(Contents(), before);
}

TEST_P(DeviceConformanceTest, HolesNeverHideData) {
  AlignedBuffer data = Pattern(11, 200 * kKiB);
  ASSERT_EQ(Write(*device_, 300 * kKiB, data.span()), 0);
  ASSERT_EQ(Write(*device_, kSizeBytes - 4096, data.span().first(4096)), 0);
  ASSERT_EQ(Zero(*device_, 320 * kKiB, 128 * kKiB), 0);
  ASSERT_EQ(Flush(*device_), 0);
  const std::vector<std::byte> contents = Contents();
  uint64_t hole_begin = 0;
  while (hole_begin < kSizeBytes) {
    const absl::StatusOr<uint64_t> data_begin = device_->NextData(hole_begin);
    ASSERT_TRUE(data_begin.ok()) << data_begin.status();
    ASSERT_GE(*data_begin, hole_begin);
    EXPECT_TRUE(std::all_of(contents.begin() + static_cast<ptrdiff_t>(hole_begin),
                            contents.begin() + static_cast<ptrdiff_t>(*data_begin),
                            [](std::byte byte) { return byte == std::byte{0}; }));
    const absl::StatusOr<uint64_t> data_end = device_->NextHole(*data_begin);
    ASSERT_TRUE(data_end.ok()) << data_end.status();
    ASSERT_TRUE(*data_end > *data_begin || *data_begin == kSizeBytes);
    hole_begin = *data_end;
  }
  EXPECT_EQ(hole_begin, kSizeBytes);
}

TEST_P(DeviceConformanceTest, HolesEndWithTheDevice) {
  for (const uint64_t offset_bytes :
       {kSizeBytes, kSizeBytes + 1, std::numeric_limits<uint64_t>::max()}) {
    EXPECT_EQ(*device_->NextData(offset_bytes), kSizeBytes);
    EXPECT_EQ(*device_->NextHole(offset_bytes), kSizeBytes);
  }
}

TEST_P(DeviceConformanceTest, KeepsSeveralRequestsApartUntilTheyAreWaitedFor) {
  AlignedBuffer data = Pattern(13, 3 * 4096);
  std::vector<IoRequest> requests;
  for (size_t i = 0; i < 3; ++i) {
    requests.push_back(
        RequestFor(IoKind::kWrite, i * 64 * kKiB, data.span().subspan(i * 4096, 4096)));
  }
  requests.push_back(RequestFor(IoKind::kRead, kSizeBytes, data.span()));
  requests.push_back(FlushRequest());
  for (IoRequest& request : requests) {
    device_->Submit(request);
  }
  for (size_t i = requests.size(); i-- > 0;) {
    device_->Wait(requests[i]);
    EXPECT_EQ(requests[i].error, i == 3 ? EIO : 0) << i;
  }
  AlignedBuffer back(4096);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(Read(*device_, i * 64 * kKiB, back.span()), 0);
    EXPECT_EQ(std::memcmp(back.data(), data.data() + i * 4096, 4096), 0);
  }
}

TEST_P(DeviceConformanceTest, ServesThreadsSideBySide) {
  constexpr size_t kThreads = 4;
  constexpr uint64_t kPieceBytes = 4096;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      Prng prng(t);
      AlignedBuffer back(kPieceBytes);
      for (int step = 0; step < 100; ++step) {
        // Pieces of one thread lie among those of the others.
        const uint64_t piece = prng.Below(60) * kThreads + t;
        AlignedBuffer data = Pattern(prng.Next(), kPieceBytes);
        ASSERT_EQ(Write(*device_, piece * kPieceBytes, data.span()), 0);
        ASSERT_EQ(Read(*device_, piece * kPieceBytes, back.span()), 0);
        ASSERT_EQ(std::memcmp(back.data(), data.data(), kPieceBytes), 0);
        if (prng.OneIn(4)) {
          ASSERT_EQ(Zero(*device_, piece * kPieceBytes, kPieceBytes), 0);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceConformanceTest, ::testing::ValuesIn(Kinds()),
                         [](const ::testing::TestParamInfo<Kind>& kind) {
                           return std::string(kind.param.name);
                         });

}  // namespace
}  // namespace mdvol
