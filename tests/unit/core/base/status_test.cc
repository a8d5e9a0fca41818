// That errno, kind and message survive in a Status, and the two macros.

#include "core/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "absl/strings/cord.h"

namespace mdvol {
namespace {

absl::StatusOr<std::unique_ptr<int>> MakeInt(const absl::Status& status) {
  if (!status.ok()) {
    return status;
  }
  return std::make_unique<int>(7);
}

absl::Status Pass(const absl::Status& status, bool* got_past) {
  MDVOL_RETURN_IF_ERROR(status);
  *got_past = true;
  return absl::OkStatus();
}

absl::StatusOr<int> AddOne(const absl::Status& status) {
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<int> value, MakeInt(status));
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<int> other, MakeInt(status));
  return (*value + *other) / 2 + 1;
}

TEST(StatusTest, CarriesEveryErrnoThroughAbseilsCodes) {
  for (int error_number = 1; error_number < 134; ++error_number) {
    EXPECT_EQ(ErrnoOf(ErrnoStatus(error_number, "x")), error_number);
  }
}

TEST(StatusTest, ErrnoOfOkIsZeroAndOfAStrangerIsEio) {
  EXPECT_EQ(ErrnoOf(absl::OkStatus()), 0);
  EXPECT_EQ(ErrnoOf(absl::NotFoundError("from elsewhere")), EIO);
}

TEST(StatusTest, ErrnoStatusKeepsTheMessageExactly) {
  EXPECT_EQ(MessageOf(ErrnoStatus(EBUSY, "d0.img: held")), "d0.img: held");
  EXPECT_EQ(MessageOf(absl::OkStatus()), "");
}

TEST(StatusTest, SystemErrorAppendsTheSystemsWords) {
  const absl::Status status = SystemError(ENOENT, "d0.img");
  EXPECT_EQ(MessageOf(status), "d0.img: No such file or directory");
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_FALSE(IsUsageError(status));
}

TEST(StatusTest, UsageErrorsAreKnownAndAreEinval) {
  const absl::Status status = UsageError("chunk: must be a power of two");
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_FALSE(IsUsageError(ErrnoStatus(EINVAL, "x")));
  EXPECT_FALSE(IsUsageError(absl::OkStatus()));
}

TEST(StatusTest, AnnotateKeepsErrnoKindAndOtherPayloads) {
  absl::Status inner = UsageError("bad");
  inner.SetPayload("elsewhere", absl::Cord("42"));
  const absl::Status status = Annotate(Annotate(inner, "line 3"), "array.toml");
  EXPECT_EQ(MessageOf(status), "array.toml: line 3: bad");
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_EQ(status.GetPayload("elsewhere"), absl::Cord("42"));
  EXPECT_EQ(ErrnoOf(Annotate(ErrnoStatus(ENOSPC, "full"), "d0.img")), ENOSPC);
}

TEST(StatusTest, AnnotateLeavesOkAlone) { EXPECT_TRUE(Annotate(absl::OkStatus(), "prefix").ok()); }

TEST(StatusTest, ReturnIfErrorLeavesOnlyOnErrors) {
  bool got_past = false;
  EXPECT_EQ(ErrnoOf(Pass(ErrnoStatus(EPERM, "no"), &got_past)), EPERM);
  EXPECT_FALSE(got_past);
  EXPECT_TRUE(Pass(absl::OkStatus(), &got_past).ok());
  EXPECT_TRUE(got_past);
}

TEST(StatusTest, AssignOrReturnMovesTheValueOut) {
  EXPECT_EQ(*AddOne(absl::OkStatus()), 8);
  EXPECT_EQ(ErrnoOf(AddOne(ErrnoStatus(ENOMEM, "no")).status()), ENOMEM);
}

}  // namespace
}  // namespace mdvol
