// Tests of the recognition of what must not be overwritten unasked.

#include "core/array/signatures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "core/array/create.h"
#include "core/base/status.h"
#include "core/device/fault_device.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/core/array/members.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Put;
using std::string_view_literals::operator""sv;

constexpr uint64_t kDeviceBytes = 4 * kMiB + 100 * kKiB;

std::vector<std::string> WhatIsOn(MemberDevice& device) {
  const auto signatures = FindSignatures(device);
  EXPECT_TRUE(signatures.ok()) << signatures.status();
  std::vector<std::string> what;
  for (const FoundSignature& signature : *signatures) {
    what.push_back(signature.what);
    // Zeroing the magic must be enough to make it unrecognisable.
    EXPECT_FALSE(signature.magic.empty());
    EXPECT_LE(signature.magic.end, device.size_bytes());
  }
  return what;
}

struct Written {
  uint64_t offset;
  std::string_view bytes;
  const char* what;
};

void PrintTo(const Written& written, std::ostream* out) {
  *out << written.what << " at " << written.offset;
}

class MagicTest : public ::testing::TestWithParam<Written> {};

TEST_P(MagicTest, IsRecognisedThereAndNowhereElse) {
  const auto device = NewMemoryDevice("d", kDeviceBytes);
  Put(*device, GetParam().offset, GetParam().bytes);
  EXPECT_THAT(WhatIsOn(*device), ElementsAre(GetParam().what));
  const auto signatures = FindSignatures(*device);
  EXPECT_EQ(signatures->front().magic.begin, GetParam().offset);

  const auto shifted = NewMemoryDevice("d", kDeviceBytes);
  Put(*shifted, GetParam().offset + 16, GetParam().bytes);
  EXPECT_THAT(WhatIsOn(*shifted), IsEmpty());

  const auto changed = NewMemoryDevice("d", kDeviceBytes);
  std::string bytes(GetParam().bytes);
  bytes.back() = static_cast<char>(~bytes.back());
  Put(*changed, GetParam().offset, bytes);
  EXPECT_THAT(WhatIsOn(*changed), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Starts, MagicTest,
    ::testing::Values(
        Written{0, "XFSB", "an XFS file system"}, Written{65600, "_BHRfS_M", "a btrfs file system"},
        Written{1024, "\x10\x20\xf5\xf2", "an F2FS file system"},
        Written{3, "NTFS    ", "an NTFS file system"},
        Written{3, "EXFAT   ", "an exFAT file system"},
        Written{54, "FAT12   ", "a FAT file system"}, Written{54, "FAT16   ", "a FAT file system"},
        Written{82, "FAT32   ", "a FAT file system"},
        Written{32769, "CD001", "an ISO 9660 file system"},
        Written{32769, "BEA01", "a UDF file system"}, Written{32768, "JFS1", "a JFS file system"},
        Written{65588, "ReIsEr3Fs", "a ReiserFS file system"},
        Written{0, "hsqs", "a squashfs file system"},
        Written{1024, "\xe2\xe1\xf5\xe0", "an EROFS file system"},
        Written{32, "NXSB", "an APFS container"},
        Written{1024, "H+\0\x04"sv, "an HFS+ file system"},
        Written{16404, "\0\0\0\x07version"sv, "a ZFS pool member"},
        Written{(256 << 10) + 16404, "\0\0\0\x07version"sv, "a ZFS pool member"},
        Written{4120, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
                "a bcache device"},
        Written{4086, "SWAPSPACE2", "swap space"}, Written{8182, "SWAPSPACE2", "swap space"},
        Written{65526, "SWAPSPACE2", "swap space"}, Written{4086, "SWAP-SPACE", "swap space"},
        Written{512, "LABELONE", "an LVM2 physical volume"},
        Written{1536, "LABELONE", "an LVM2 physical volume"},
        Written{0, "LUKS\xba\xbe", "a LUKS volume"},
        Written{16384, "SKUL\xba\xbe", "a LUKS volume"},
        Written{512, "EFI PART", "a GPT partition table"},
        Written{4096, "EFI PART", "a GPT partition table"}));

// The device has no round size, so that places counted from the end are told from round ones.
INSTANTIATE_TEST_SUITE_P(
    Ends, MagicTest,
    ::testing::Values(
        Written{kDeviceBytes - 512, "EFI PART", "a GPT partition table"},
        Written{kDeviceBytes - 1024, "Intel Raid ISM Cfg Sig. ", "Intel RAID (IMSM) metadata"},
        Written{4 * kMiB - 512 * kKiB + 16404, "\0\0\0\x07version"sv, "a ZFS pool member"},
        Written{4 * kMiB - 256 * kKiB + 16404, "\0\0\0\x07version"sv, "a ZFS pool member"},
        Written{4 * kMiB, "\xfc\x4e\x2b\xa9\0\0\0\0"sv, "md metadata 0.90"},
        Written{4 * kMiB, "\xa9\x2b\x4e\xfc\0\0\0\0"sv, "md metadata 0.90"}));

TEST(SignaturesTest, AnEmptyDeviceOfAnySizeHasNone) {
  for (const uint64_t size :
       {uint64_t{0}, uint64_t{1}, uint64_t{511}, uint64_t{512}, uint64_t{4095}, uint64_t{4096},
        24 * kSectorBytes, 64 * kKiB, kMiB + 1, kTiB}) {
    const auto device = NewMemoryDevice("d", size);
    EXPECT_THAT(WhatIsOn(*device), IsEmpty()) << size;
  }
}

TEST(SignaturesTest, AMagicMayEndWhereTheDeviceEnds) {
  const auto device = NewMemoryDevice("d", 4096);
  Put(*device, 4086, "SWAPSPACE2");
  EXPECT_THAT(WhatIsOn(*device), ElementsAre("swap space"));
  const auto cut = NewMemoryDevice("d", 4095);
  Put(*cut, 4086, "SWAPSPACE");
  EXPECT_THAT(WhatIsOn(*cut), IsEmpty());
}

TEST(SignaturesTest, TheExtFamilyIsToldApartByFeatures) {
  const auto what = [](std::string_view features) {
    const auto device = NewMemoryDevice("d", kDeviceBytes);
    Put(*device, 1080, "\x53\xef");
    Put(*device, 1116, features);
    return WhatIsOn(*device);
  };
  EXPECT_THAT(what("\0\0\0\0\2\0\0\0\1\0\0\0"sv), ElementsAre("an ext2 file system"));
  EXPECT_THAT(what("\4\0\0\0\2\0\0\0\1\0\0\0"sv), ElementsAre("an ext3 file system"));
  EXPECT_THAT(what("\4\0\0\0\x42\0\0\0\1\0\0\0"sv), ElementsAre("an ext4 file system"));
  EXPECT_THAT(what("\0\0\0\0\2\2\0\0\1\0\0\0"sv), ElementsAre("an ext4 file system"));
  EXPECT_THAT(what("\4\0\0\0\2\0\0\0\x10\4\0\0"sv), ElementsAre("an ext4 file system"));
}

TEST(SignaturesTest, AnMbrNeedsPartitionsThatLookLikeSome) {
  const auto device = NewMemoryDevice("d", kDeviceBytes);
  Put(*device, 510, "\x55\xaa");
  EXPECT_THAT(WhatIsOn(*device), IsEmpty());  // no partition: a boot loader, or nothing
  Put(*device, 446 + 16, "\x80\1\1\0\x83\1\1\1"sv);
  EXPECT_THAT(WhatIsOn(*device), ElementsAre("an MBR partition table"));
  Put(*device, 446, "\x13");  // no status that a partition has
  EXPECT_THAT(WhatIsOn(*device), IsEmpty());
  Put(*device, 446, "\0"sv);
  Put(*device, 512, "EFI PART");
  EXPECT_THAT(WhatIsOn(*device), ElementsAre("a GPT partition table", "an MBR partition table"));
  Put(*device, 3, "NTFS    ");  // its boot sector ends in 55 aa, too
  Put(*device, 512, "\0"sv);
  EXPECT_THAT(WhatIsOn(*device), ElementsAre("an NTFS file system"));
}

TEST(SignaturesTest, MdMetadataIsNamedWithItsArray) {
  for (int minor = 0; minor <= 2; ++minor) {
    const CreatePlan plan = testing::MustPlan(testing::BasicRequest(minor));
    const auto devices = testing::MakeDevices(plan);
    ASSERT_TRUE(WriteCreatePlan(plan, devices).ok());
    EXPECT_THAT(WhatIsOn(*devices[0]),
                ElementsAre("md metadata 1." + std::to_string(minor) +
                            " of array aaaaaaaa:aaaaaaaa:aaaaaaaa:aaaaaaaa"));
  }
}

TEST(SignaturesTest, TheSuperblockOfASmallDeviceIsNotTakenForAnOlderOne) {
  const auto device = NewMemoryDevice("d", 100 * kKiB);  // 0.90's place is that of 1.1
  Put(*device, 0, "\xfc\x4e\x2b\xa9\1\0\0\0"sv);
  EXPECT_THAT(WhatIsOn(*device), ElementsAre(HasSubstr("md metadata 1.1")));
  Put(*device, 0, "\xfc\x4e\x2b\xa9\0\0\0\0"sv);
  EXPECT_THAT(WhatIsOn(*device), ElementsAre("md metadata 0.90"));
}

TEST(SignaturesTest, WorkUnderDirectIo) {
  MemoryDeviceOptions options;
  options.alignment_bytes = 4096;
  const auto device = NewMemoryDevice("d", 4 * kMiB, options);
  std::string page(4096, '\0');
  page.replace(4096 - 512, 8, "EFI PART");
  Put(*device, 4 * kMiB - 4096, page);
  EXPECT_THAT(WhatIsOn(*device), ElementsAre("a GPT partition table"));
}

TEST(SignaturesTest, EveryReadErrorIsReported) {
  FakeClock clock;
  for (uint64_t nth = 1;; ++nth) {
    const auto device = NewFaultDevice(NewMemoryDevice("dev/d", kDeviceBytes), 1, clock);
    device->AddRule({.op = FaultOp::kRead, .nth = nth});
    const auto signatures = FindSignatures(*device);
    if (device->FiredCount() == 0) {
      EXPECT_GT(nth, 40U);
      break;
    }
    EXPECT_EQ(ErrnoOf(signatures.status()), EIO) << nth;
    EXPECT_THAT(MessageOf(signatures.status()), HasSubstr("dev/d")) << nth;
  }
}

TEST(FindSignatureTest, JoinsWhatIsThereAndNamesEachOnce) {
  const auto device = NewMemoryDevice("d", kDeviceBytes);
  EXPECT_EQ(*FindSignature(*device), "");
  Put(*device, 512, "EFI PART");
  Put(*device, kDeviceBytes - 512, "EFI PART");
  EXPECT_EQ(*FindSignature(*device), "a GPT partition table");
  Put(*device, 0, "XFSB");
  EXPECT_EQ(*FindSignature(*device), "an XFS file system and a GPT partition table");
}

}  // namespace
}  // namespace mdvol
