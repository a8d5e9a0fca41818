// What the tests of members that come and go share: an array that is open and full.

#ifndef MDVOL_TESTS_UNIT_CORE_ARRAY_MEMBERS_FIXTURE_H_
#define MDVOL_TESTS_UNIT_CORE_ARRAY_MEMBERS_FIXTURE_H_

#include <gtest/gtest.h>

#include "tests/support/test_array/test_array.h"

namespace mdvol::testing {

class MembersFixture : public ::testing::TestWithParam<ArraySpec> {
 protected:
  void SetUp() override {
    MDVOL_ASSERT_OK(array_.Open());
    MDVOL_ASSERT_OK(array_.Fill());
  }

  MemberSnapshot Of(size_t disk) {
    for (MemberSnapshot& member : array_->Snapshot().members) {
      if (member.path == array_.disks()[disk].path()) {
        return member;
      }
    }
    ADD_FAILURE() << "disk " << disk << " is no member";
    return {};
  }

  TestArray array_{GetParam()};
};

// Metadata, bitmap and alignments taking turns.
inline auto MemberSpecs() {
  return ::testing::Values(
      ArraySpec(), ArraySpec{.bitmap = false}, ArraySpec{.minor = 0, .alignment_bytes = 512},
      ArraySpec{.layout = Layout::kDdfNContinue, .minor = 1, .alignment_bytes = 4096});
}

}  // namespace mdvol::testing

#endif  // MDVOL_TESTS_UNIT_CORE_ARRAY_MEMBERS_FIXTURE_H_
