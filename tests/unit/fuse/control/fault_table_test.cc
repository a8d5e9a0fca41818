// Fault devices known by their members' indices, while members come and go in other threads.

#include "fuse/control/fault_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/device/memory_device.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

// Tells when it is closed.
class TellingDevice final : public MemberDevice {
 public:
  explicit TellingDevice(std::atomic<bool>& is_closed)
      : is_closed_(is_closed), inner_(NewMemoryDevice("d.img", kMiB)) {}
  ~TellingDevice() override { is_closed_ = true; }

  const std::string& path() const override { return inner_->path(); }
  uint64_t size_bytes() const override { return inner_->size_bytes(); }
  uint32_t alignment_bytes() const override { return inner_->alignment_bytes(); }
  bool read_only() const override { return inner_->read_only(); }
  void Submit(IoRequest& request) override { inner_->Submit(request); }
  void Wait(IoRequest& request) override { inner_->Wait(request); }
  absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) override {
    return inner_->NextData(offset_bytes);
  }
  absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) override {
    return inner_->NextHole(offset_bytes);
  }

 private:
  std::atomic<bool>& is_closed_;
  const std::unique_ptr<MemberDevice> inner_;
};

class FaultTableTest : public ::testing::Test {
 protected:
  // A member's stack, put into the table.
  std::unique_ptr<MemberDevice> NewMember(size_t index) {
    std::shared_ptr<FaultDevice> fault =
        NewFaultDevice(std::make_unique<TellingDevice>(is_closed_), 1, clock_);
    known_ = fault;
    auto member = ShareFaultDevice(std::move(fault));
    table_.Put(index, known_);
    return member;
  }

  bool Has(size_t index) {
    return table_.With(index, [](const FaultDevice&) {});
  }

  testing::FakeClock clock_;
  std::atomic<bool> is_closed_ = false;
  std::weak_ptr<FaultDevice> known_;
  FaultTable table_;
};

TEST_F(FaultTableTest, AMemberIsFoundWhileItsStackLives) {
  auto member = NewMember(3);
  EXPECT_TRUE(Has(3));
  EXPECT_FALSE(Has(2));
  member.reset();
  EXPECT_TRUE(is_closed_);
  EXPECT_FALSE(Has(3));
}

// Who adds a member learns its index only when others may have removed it already.
TEST_F(FaultTableTest, AMemberThatWentBeforeItWasPutInIsNotFound) {
  auto member = NewMember(3);
  member.reset();
  table_.Put(4, known_);
  EXPECT_FALSE(Has(4));
  table_.ForgetGone();
  EXPECT_FALSE(Has(4));
}

TEST_F(FaultTableTest, WhatHasGoneIsForgottenAndNobodyElse) {
  auto first = NewMember(1);
  auto second = NewMember(2);
  first.reset();
  table_.ForgetGone();
  EXPECT_FALSE(Has(1));
  EXPECT_TRUE(Has(2));
}

TEST_F(FaultTableTest, ADeviceInUseStaysToTheEndOfTheUse) {
  auto member = NewMember(3);
  EXPECT_TRUE(table_.With(3, [&](FaultDevice& device) {
    member.reset();
    EXPECT_FALSE(is_closed_);
    device.AddRule(FaultRule{});
    EXPECT_EQ(device.Rules().size(), 1U);
  }));
  EXPECT_TRUE(is_closed_);
}

TEST_F(FaultTableTest, TheStackPassesEverythingOn) {
  auto member = NewMember(3);
  EXPECT_EQ(member->path(), "d.img");
  EXPECT_EQ(member->size_bytes(), kMiB);
  EXPECT_EQ(member->alignment_bytes(), 1U);
  EXPECT_FALSE(member->read_only());
  EXPECT_EQ(*member->NextData(0), kMiB);
  EXPECT_EQ(*member->NextHole(4096), 4096U);
  uint64_t word = 17;
  ASSERT_TRUE(WriteMember(*member, 512, &word, sizeof(word)).ok());
  word = 0;
  ASSERT_TRUE(ReadMember(*member, 512, &word, sizeof(word)).ok());
  EXPECT_EQ(word, 17U);
  EXPECT_TRUE(table_.With(3, [](FaultDevice& device) { device.AddRule(FaultRule{}); }));
  EXPECT_FALSE(ReadMember(*member, 512, &word, sizeof(word)).ok());
}

// Members come, are asked for and go, all at once; once ForgetGone has returned, one that was
// dropped is closed.
TEST_F(FaultTableTest, MembersComeAndGoWhileTheyAreUsed) {
  constexpr size_t kMembers = 500;
  std::atomic<size_t> newest = 0;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> users;
  for (int i = 0; i < 2; ++i) {
    users.emplace_back([&] {
      while (!is_over) {
        table_.With(newest, [](FaultDevice& device) {
          device.AddRule(FaultRule{});
          EXPECT_EQ(device.Rules().size(), 1U);
          device.ClearRules();
        });
        std::this_thread::yield();
      }
    });
  }
  for (size_t index = 1; index <= kMembers; ++index) {
    is_closed_ = false;
    newest = index;
    auto member = NewMember(index);
    member.reset();
    table_.ForgetGone();
    EXPECT_TRUE(is_closed_);
    table_.Put(index, known_);
  }
  is_over = true;
  for (std::thread& user : users) {
    user.join();
  }
}

}  // namespace
}  // namespace mdvol
