// Members by slot, name and path; faults that reach them.

#include "fuse/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/status.h"
#include "core/device/memory_device.h"
#include "tests/support/fake_array.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

class MembersTest : public ::testing::Test {
 protected:
  std::shared_ptr<FaultDevice> NewFault(const std::string& path) {
    std::shared_ptr<FaultDevice> device = NewFaultDevice(NewMemoryDevice(path, kMiB), 1, clock_);
    faults_[path] = device;
    return device;
  }

  testing::FakeClock clock_;
  ArraySnapshot array_ = testing::FakeSnapshot();
  FaultsByPath faults_;
  std::shared_ptr<FaultDevice> third_ = NewFault("/images/d3.img");
};

TEST_F(MembersTest, FaultDevicesAreFoundByTheMembersIndex) {
  FaultTable table;
  FillFaultTable(faults_, array_, table);
  const FaultDevice* found = nullptr;
  EXPECT_TRUE(table.With(3, [&](const FaultDevice& device) { found = &device; }));
  EXPECT_EQ(found, third_.get());
  EXPECT_FALSE(table.With(2, [](const FaultDevice&) {}));
  third_.reset();
  EXPECT_FALSE(table.With(3, [](const FaultDevice&) {}));
}

TEST_F(MembersTest, ConfiguredFaultsReachTheirMemberBySlotNameOrPath) {
  size_t count = 0;
  for (const char* member : {"3", "d3.img", "/images/d3.img"}) {
    Config config;
    config.faults.push_back({member, "array.toml:7:10", FaultRule{}});
    ASSERT_TRUE(SetConfiguredFaults(config, array_, faults_).ok()) << member;
    EXPECT_EQ(third_->Rules().size(), ++count);
  }
}

TEST_F(MembersTest, AFaultOfAWordThatMeansTwoMembersIsAUsageError) {
  array_.members[2].name = "3";
  Config config;
  config.faults.push_back({"3", "array.toml:7:10", FaultRule{}});
  const absl::Status status = SetConfiguredFaults(config, array_, faults_);
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_THAT(MessageOf(status), ::testing::HasSubstr("array.toml:7:10: "));
  EXPECT_THAT(MessageOf(status), ::testing::HasSubstr("means two members"));
  EXPECT_TRUE(third_->Rules().empty());
}

TEST_F(MembersTest, AFaultOfNoMemberIsAUsageError) {
  for (const char* member : {"", "6", "d9.img", "/nowhere", "2"}) {
    Config config;
    config.faults.push_back({member, "array.toml:7:10", FaultRule{}});
    const absl::Status status = SetConfiguredFaults(config, array_, faults_);
    EXPECT_TRUE(IsUsageError(status)) << member;
    EXPECT_THAT(MessageOf(status), ::testing::HasSubstr("array.toml:7:10: ")) << member;
  }
}

TEST_F(MembersTest, AMissingFileIsNamed) {
  Config config;
  config.array.members = {"/no/such/image"};
  const absl::Status status = OpenMembers(config, PolicySet(), clock_).status();
  EXPECT_EQ(ErrnoOf(status), ENOENT);
  EXPECT_NE(MessageOf(status).find("/no/such/image"), std::string::npos);
}

TEST_F(MembersTest, AKindOfModelIsAPreset) {
  EXPECT_EQ(ModelParameters({MemberModelKind::kHdd, {}, {}, {}, {}}), kHddModel);
  EXPECT_EQ(ModelParameters({MemberModelKind::kSsd, {}, {}, {}, {}}), kSsdModel);
  EXPECT_EQ(ModelParameters({MemberModelKind::kNvme, {}, {}, {}, {}}), kNvmeModel);
}

TEST_F(MembersTest, NumbersOfAModelThatAreNotGivenCostNothing) {
  EXPECT_EQ(ModelParameters({{}, 7, {}, {}, {}}), (DiskModelParameters{7000, 0, 0, 1}));
  EXPECT_EQ(ModelParameters({{}, {}, 8, {}, 3}), (DiskModelParameters{0, 8000, 0, 3}));
  EXPECT_EQ(ModelParameters({{}, {}, {}, 9, {}}), (DiskModelParameters{0, 0, 9, 1}));
}

TEST_F(MembersTest, WithoutTimesThereIsNoModel) {
  EXPECT_EQ(ModelParameters({}), std::nullopt);
  EXPECT_EQ(ModelParameters({MemberModelKind::kNone, {}, {}, {}, {}}), std::nullopt);
  EXPECT_EQ(ModelParameters({{}, 0, 0, {}, 4}), std::nullopt);
}

}  // namespace
}  // namespace mdvol
