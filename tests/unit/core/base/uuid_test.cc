// Both spellings of a uuid, what is none, and random ones.

#include "core/base/uuid.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "tests/unit/core/base/failing_syscall.h"

namespace mdvol {
namespace {

constexpr Uuid kUuid = {{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98,
                         0x76, 0x54, 0x32, 0x10}};

TEST(UuidTest, HasTwoSpellings) {
  EXPECT_EQ(FormatUuidColons(kUuid), "01234567:89abcdef:fedcba98:76543210");
  EXPECT_EQ(FormatUuidDashes(kUuid), "01234567-89ab-cdef-fedc-ba9876543210");
}

TEST(UuidTest, ReadsEitherSpellingAndPlainDigits) {
  for (const char* text :
       {"01234567:89abcdef:fedcba98:76543210", "01234567-89ab-cdef-fedc-ba9876543210",
        "0123456789abcdeffedcba9876543210", "0123456789ABCDEFFEDCBA9876543210",
        "0.1.2345 6789abcd\teffedcba98-76543210"}) {
    const absl::StatusOr<Uuid> uuid = ParseUuid(text);
    ASSERT_TRUE(uuid.ok()) << uuid.status();
    EXPECT_EQ(*uuid, kUuid) << text;
  }
}

TEST(UuidTest, RefusesWhatIsNoUuid) {
  for (const char* text :
       {"", "0123", "01234567:89abcdef:fedcba98:7654321", "01234567:89abcdef:fedcba98:765432100",
        "g1234567:89abcdef:fedcba98:76543210", "01234567/89abcdef:fedcba98:76543210",
        "0x0123456789abcdeffedcba9876543210"}) {
    const absl::StatusOr<Uuid> uuid = ParseUuid(text);
    ASSERT_FALSE(uuid.ok()) << text;
    EXPECT_TRUE(IsUsageError(uuid.status()));
    EXPECT_EQ(MessageOf(uuid.status()).find(absl::StrCat("'", text, "': not a uuid")), 0u);
  }
}

TEST(UuidTest, ComparesByItsBytes) {
  Uuid larger = kUuid;
  larger.bytes[15] = 0x11;
  EXPECT_NE(larger, kUuid);
  EXPECT_LT(kUuid, larger);
}

TEST(UuidTest, RandomOnesDiffer) {
  const absl::StatusOr<Uuid> first = RandomUuid();
  const absl::StatusOr<Uuid> second = RandomUuid();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
  EXPECT_NE(*first, Uuid());
}

TEST(UuidTest, SaysWhyThereAreNoRandomBytes) {
  testing::RunWithFailingSyscall({SYS_getrandom, ENOSYS}, [] {
    const absl::StatusOr<Uuid> uuid = RandomUuid();
    ASSERT_FALSE(uuid.ok());
    EXPECT_EQ(ErrnoOf(uuid.status()), ENOSYS);
    EXPECT_EQ(MessageOf(uuid.status()), "no random bytes for a uuid: Function not implemented");
  });
}

}  // namespace
}  // namespace mdvol
