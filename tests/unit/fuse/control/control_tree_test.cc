// The control files by path, over a fake array: names and texts as the kernel prints them, errnos
// as it gives them.

#include "fuse/control/control_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/device/fault_device.h"
#include "core/device/memory_device.h"
#include "tests/support/fake_array.h"
#include "tests/support/fake_clock.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using testing::FakeArray;
using testing::FakeClock;
using ::testing::HasSubstr;

class ControlTreeTest : public ::testing::Test {
 protected:
  ControlTreeTest()
      : fault_(NewFaultDevice(NewMemoryDevice("d1.img", kMiB), 1, clock_)),
        events_(clock_),
        tree_({array_,
               events_,
               policies_,
               faults_,
               [this] { return opener_count_; },
               {42, "1.0", &policies_}}) {
    faults_.Put(1, fault_);
  }

  std::string Show(const std::string& path) {
    const absl::StatusOr<std::string> text = tree_.Show(path);
    return text.ok() ? *text : "error " + std::to_string(ErrnoOf(text.status()));
  }

  int Store(const std::string& path, const std::string& value) {
    return ErrnoOf(tree_.Store(path, value + "\n"));
  }

  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    const auto entries = tree_.List(path);
    EXPECT_TRUE(entries.ok()) << path;
    for (const ControlEntry& entry : entries.value_or(std::vector<ControlEntry>{})) {
      names.push_back(entry.name);
    }
    return names;
  }

  bool IsWritable(const std::string& path) { return tree_.Find(path)->writable; }

  FakeClock clock_;
  FakeArray array_;
  std::shared_ptr<FaultDevice> fault_;
  FaultTable faults_;
  EventLog events_;
  const Registry registry_;
  PolicySet set_;
  PolicySelection policies_{registry_, set_};
  uint32_t opener_count_ = 0;
  ControlTree tree_;
};

TEST_F(ControlTreeTest, TheRootHasTheTextsAndMd) {
  EXPECT_THAT(Names(""), ElementsAre("mdstat", "status.json", "events", "iostat", "md"));
  EXPECT_THAT(Show("mdstat"), HasSubstr("Personalities : [raid6]"));
  EXPECT_THAT(Show("status.json"), HasSubstr("\"pid\": 42"));
  EXPECT_THAT(Show("iostat"), HasSubstr("member r_requests"));
}

TEST_F(ControlTreeTest, MdHasTheNamesOfTheKernel) {
  EXPECT_THAT(Names("md"),
              ElementsAre("level", "raid_disks", "layout", "chunk_size", "component_size",
                          "array_size", "metadata_version", "uuid", "array_state", "degraded",
                          "consistency_policy", "safe_mode_delay", "max_read_errors", "rmw_level",
                          "stripe_cache_size", "stripe_cache_active", "new_dev", "suspend_lo",
                          "suspend_hi", "sync_action", "last_sync_action", "mismatch_cnt",
                          "sync_completed", "sync_speed", "sync_speed_min", "sync_speed_max",
                          "sync_min", "sync_max", "resync_start", "repair_mode", "bitmap", "policy",
                          "rd0", "rd1", "rd2", "rd3", "rd4", "rd5", "dev-d0.img", "dev-d1.img",
                          "dev-d2.img", "dev-d3.img", "dev-d4.img", "dev-d5.img"));
}

// What the kernel's sysfs read for an array of this shape.
TEST_F(ControlTreeTest, ArrayAttributesReadAsInSysfs) {
  EXPECT_EQ(Show("md/level"), "raid6\n");
  EXPECT_EQ(Show("md/raid_disks"), "6\n");
  EXPECT_EQ(Show("md/layout"), "2\n");
  EXPECT_EQ(Show("md/chunk_size"), "65536\n");
  EXPECT_EQ(Show("md/component_size"), "1024\n");
  EXPECT_EQ(Show("md/array_size"), "default\n");
  EXPECT_EQ(Show("md/metadata_version"), "1.2\n");
  EXPECT_EQ(Show("md/uuid"), "10111213-1415-1617-1819-1a1b1c1d1e1f\n");
  EXPECT_EQ(Show("md/array_state"), "clean\n");
  EXPECT_EQ(Show("md/degraded"), "0\n");
  EXPECT_EQ(Show("md/consistency_policy"), "bitmap\n");
  EXPECT_EQ(Show("md/safe_mode_delay"), "0.200\n");
  EXPECT_EQ(Show("md/max_read_errors"), "20\n");
  EXPECT_EQ(Show("md/rmw_level"), "1\n");
  EXPECT_EQ(Show("md/stripe_cache_size"), "0\n");
  EXPECT_EQ(Show("md/stripe_cache_active"), "0\n");
}

TEST_F(ControlTreeTest, SyncAttributesOfAnIdleArrayReadAsInSysfs) {
  EXPECT_EQ(Show("md/sync_action"), "idle\n");
  EXPECT_EQ(Show("md/last_sync_action"), "none\n");
  EXPECT_EQ(Show("md/mismatch_cnt"), "0\n");
  EXPECT_EQ(Show("md/sync_completed"), "none\n");
  EXPECT_EQ(Show("md/sync_speed"), "none\n");
  EXPECT_EQ(Show("md/sync_speed_min"), "1000 (system)\n");
  EXPECT_EQ(Show("md/sync_speed_max"), "200000 (system)\n");
  EXPECT_EQ(Show("md/sync_min"), "0\n");
  EXPECT_EQ(Show("md/sync_max"), "max\n");
  EXPECT_EQ(Show("md/resync_start"), "none\n");
  array_.ChangeSnapshot([](ArraySnapshot& array) { array.resync_bytes = 8192; });
  EXPECT_EQ(Show("md/resync_start"), "16\n");
}

TEST_F(ControlTreeTest, BitmapAttributesReadAsInSysfs) {
  EXPECT_THAT(Names("md/bitmap"),
              ElementsAre("location", "chunksize", "time_base", "can_clear", "metadata"));
  EXPECT_EQ(Show("md/bitmap/location"), "+8\n");
  EXPECT_EQ(Show("md/bitmap/chunksize"), "67108864\n");
  EXPECT_EQ(Show("md/bitmap/time_base"), "5\n");
  EXPECT_EQ(Show("md/bitmap/can_clear"), "true\n");
  EXPECT_EQ(Show("md/bitmap/metadata"), "internal\n");
  array_.ChangeSnapshot([](ArraySnapshot& array) {
    array.bitmap->offset_sectors = -16;
    array.bitmap->can_clear = false;
  });
  EXPECT_EQ(Show("md/bitmap/location"), "-16\n");
  EXPECT_EQ(Show("md/bitmap/can_clear"), "false\n");
}

TEST_F(ControlTreeTest, WithoutABitmapItsFolderSaysNone) {
  array_.ChangeSnapshot([](ArraySnapshot& array) { array.bitmap.reset(); });
  EXPECT_EQ(Show("md/bitmap/location"), "none\n");
  EXPECT_EQ(Show("md/bitmap/chunksize"), "0\n");
  EXPECT_EQ(Show("md/bitmap/time_base"), "0\n");
  EXPECT_EQ(Show("md/bitmap/can_clear"), "\n");
  EXPECT_EQ(Store("md/bitmap/time_base", "5"), EINVAL);
}

TEST_F(ControlTreeTest, MemberAttributesReadAsInSysfs) {
  array_.ChangeSnapshot([](ArraySnapshot& array) {
    array.members[2].bad_blocks = {{8192, 12288}, {1 << 20, (1 << 20) + 512}};
    array.members[2].errors = 4;
  });
  EXPECT_THAT(Names("md/dev-d2.img"), ElementsAre("state", "slot", "offset", "size", "errors",
                                                  "recovery_start", "bad_blocks"));
  EXPECT_EQ(Show("md/dev-d2.img/state"), "in_sync\n");
  EXPECT_EQ(Show("md/dev-d2.img/slot"), "2\n");
  EXPECT_EQ(Show("md/dev-d2.img/offset"), "2048\n");
  EXPECT_EQ(Show("md/dev-d2.img/size"), "1024\n");
  EXPECT_EQ(Show("md/dev-d2.img/errors"), "4\n");
  EXPECT_EQ(Show("md/dev-d2.img/recovery_start"), "none\n");
  EXPECT_EQ(Show("md/dev-d2.img/bad_blocks"), "16 8\n2048 1\n");
  EXPECT_EQ(Show("md/dev-d3.img/bad_blocks"), "");
}

TEST_F(ControlTreeTest, ARecoveringMemberTellsHowFarItIs) {
  array_.ChangeSnapshot([](ArraySnapshot& array) {
    array.members[0].in_sync = false;
    array.members[0].recovering = true;
    array.members[0].recovery_bytes = 65536;
  });
  EXPECT_EQ(Show("md/dev-d0.img/state"), "spare\n");
  EXPECT_EQ(Show("md/dev-d0.img/recovery_start"), "128\n");
}

TEST_F(ControlTreeTest, ALinkLeadsFromEachSlotToItsMember) {
  EXPECT_EQ(Show("md/rd3"), "dev-d3.img");
  EXPECT_EQ(tree_.Find("md/rd3")->kind, ControlKind::kLink);
}

TEST_F(ControlTreeTest, WritingFaultyFailsTheMemberAndTakesItsLinkAway) {
  EXPECT_EQ(Store("md/dev-d3.img/state", "faulty"), 0);
  EXPECT_EQ(Show("md/dev-d3.img/state"), "faulty\n");
  EXPECT_EQ(Show("md/dev-d3.img/slot"), "none\n");
  EXPECT_EQ(Show("md/rd3"), "error 2");
  EXPECT_EQ(Show("md/degraded"), "1\n");
  EXPECT_EQ(Store("md/dev-d4.img/state", "faulty"), 0);
  EXPECT_EQ(Store("md/dev-d5.img/state", "faulty"), EBUSY);
  EXPECT_EQ(Show("md/dev-d5.img/state"), "in_sync\n");
}

TEST_F(ControlTreeTest, OtherStatesCannotBeSet) {
  for (const char* word : {"", "-blocked", "blocked", "in_sync", "remove", "faulty,x", "Faulty"}) {
    EXPECT_EQ(Store("md/dev-d3.img/state", word), EINVAL) << word;
  }
}

TEST_F(ControlTreeTest, KnobsTakeWhatTheKernelTakes) {
  EXPECT_EQ(Store("md/rmw_level", "2"), 0);
  EXPECT_EQ(Show("md/rmw_level"), "2\n");
  EXPECT_EQ(Store("md/stripe_cache_size", "4000"), 0);
  EXPECT_EQ(Show("md/stripe_cache_size"), "4000\n");
  EXPECT_EQ(Store("md/stripe_cache_size", "16"), EINVAL);
  EXPECT_EQ(Store("md/stripe_cache_size", "4294967313"), EINVAL);
  EXPECT_EQ(Store("md/stripe_cache_size", "many"), EINVAL);
  EXPECT_EQ(Store("md/rmw_level", "3"), EINVAL);
  EXPECT_EQ(Store("md/rmw_level", "x"), EINVAL);
  EXPECT_EQ(Store("md/safe_mode_delay", "0.3"), 0);
  EXPECT_EQ(Show("md/safe_mode_delay"), "0.300\n");
  EXPECT_EQ(Store("md/safe_mode_delay", "1.23456"), 0);
  EXPECT_EQ(Show("md/safe_mode_delay"), "1.234\n");
  EXPECT_EQ(Store("md/safe_mode_delay", "x"), EINVAL);
  EXPECT_EQ(Store("md/safe_mode_delay", "5000000"), EINVAL);
  EXPECT_EQ(Store("md/max_read_errors", "5"), 0);
  EXPECT_EQ(Show("md/max_read_errors"), "5\n");
  EXPECT_EQ(Store("md/max_read_errors", "-1"), EINVAL);
  EXPECT_EQ(Store("md/max_read_errors", "4294967296"), EINVAL);
  EXPECT_EQ(Store("md/bitmap/time_base", "7"), 0);
  EXPECT_EQ(Show("md/bitmap/time_base"), "7\n");
  EXPECT_EQ(Store("md/bitmap/time_base", "7.5"), 0);
  EXPECT_EQ(Show("md/bitmap/time_base"), "8\n");
  EXPECT_EQ(Store("md/bitmap/time_base", "0"), 0);
  EXPECT_EQ(Show("md/bitmap/time_base"), "1\n");
  EXPECT_EQ(Store("md/bitmap/time_base", "x"), EINVAL);
}

TEST_F(ControlTreeTest, ArrayStateGoesToTheArray) {
  EXPECT_EQ(Store("md/array_state", "active"), 0);
  EXPECT_EQ(Show("md/array_state"), "active\n");
  EXPECT_EQ(Store("md/array_state", "suspended"), EINVAL);
  EXPECT_EQ(Store("md/array_state", "readonly"), 0);
  EXPECT_EQ(Show("md/array_state"), "readonly\n");
}

TEST_F(ControlTreeTest, AnArrayWhoseVolumeIsOpenDoesNotBecomeReadOnly) {
  opener_count_ = 1;
  EXPECT_EQ(Store("md/array_state", "readonly"), EBUSY);
  EXPECT_EQ(Store("md/array_state", "clean"), 0);
  opener_count_ = 0;
  EXPECT_EQ(Store("md/array_state", "readonly"), 0);
}

TEST_F(ControlTreeTest, OnlySomeFilesCanBeWritten) {
  for (const char* path :
       {"md/array_state", "md/rmw_level", "md/stripe_cache_size", "md/safe_mode_delay",
        "md/max_read_errors", "md/bitmap/time_base", "md/dev-d0.img/state", "md/dev-d1.img/fault",
        "md/policy/degraded_read", "md/sync_action", "md/sync_min", "md/new_dev", "md/suspend_lo",
        "md/repair_mode", "md/dev-d0.img/slot"}) {
    EXPECT_TRUE(IsWritable(path)) << path;
  }
  for (const char* path : {"mdstat", "status.json", "events", "iostat", "md", "md/level", "md/rd0",
                           "md/uuid", "md/mismatch_cnt", "md/stripe_cache_active", "md/dev-d0.img",
                           "md/dev-d0.img/size", "md/bitmap/location"}) {
    EXPECT_FALSE(IsWritable(path)) << path;
    EXPECT_EQ(Store(path, "1"), EACCES) << path;
  }
}

// The engine behind the files, on an array that has nothing to sync and knows no way to.
class ControlledSyncTest : public ControlTreeTest {
 protected:
  ControlledSyncTest() {
    tree_ =
        std::make_unique<ControlTree>(ControlContext{array_,
                                                     events_,
                                                     policies_,
                                                     faults_,
                                                     {},
                                                     {42, "1.0", &policies_},
                                                     &engine_,
                                                     nullptr,
                                                     [this](const std::string& path, AddMode mode) {
                                                       added_.emplace_back(path, mode);
                                                       return absl::OkStatus();
                                                     }});
  }

  std::string ShowFile(const std::string& path) { return *tree_->Show(path); }
  int StoreFile(const std::string& path, const std::string& value) {
    return ErrnoOf(tree_->Store(path, value + "\n"));
  }

  PolicySlot<ResyncPacing> pacing_;
  SyncEngine engine_{array_, pacing_, clock_, events_, {}};
  std::vector<std::pair<std::string, AddMode>> added_;
  std::unique_ptr<ControlTree> tree_;
};

TEST_F(ControlledSyncTest, SpeedsAreInKibAndCanBeTheSystems) {
  EXPECT_EQ(StoreFile("md/sync_speed_max", "5000"), 0);
  EXPECT_EQ(ShowFile("md/sync_speed_max"), "5000 (local)\n");
  EXPECT_EQ(engine_.Status().speed_max_bytes, 5000U << 10);
  EXPECT_EQ(StoreFile("md/sync_speed_max", "system"), 0);
  EXPECT_EQ(ShowFile("md/sync_speed_max"), "200000 (system)\n");
  EXPECT_EQ(StoreFile("md/sync_speed_min", "0"), EINVAL);
  EXPECT_EQ(StoreFile("md/sync_speed_min", "fast"), EINVAL);
}

TEST_F(ControlledSyncTest, MinAndMaxAreInSectors) {
  EXPECT_EQ(StoreFile("md/sync_min", "256"), 0);
  EXPECT_EQ(engine_.Status().min_bytes, 256U * 512);
  EXPECT_EQ(ShowFile("md/sync_min"), "256\n");
  EXPECT_EQ(StoreFile("md/sync_max", "512"), 0);
  EXPECT_EQ(ShowFile("md/sync_max"), "512\n");
  EXPECT_EQ(StoreFile("md/sync_max", "7"), EINVAL);
  EXPECT_EQ(StoreFile("md/sync_max", "max"), 0);
  EXPECT_EQ(ShowFile("md/sync_max"), "max\n");
}

TEST_F(ControlledSyncTest, ActionsGoByMdsWords) {
  EXPECT_EQ(StoreFile("md/sync_action", "checking"), EINVAL);
  EXPECT_EQ(StoreFile("md/sync_action", "frozen"), 0);
  EXPECT_EQ(ShowFile("md/sync_action"), "frozen\n");
  EXPECT_EQ(StoreFile("md/sync_action", "check"), 0);
  EXPECT_EQ(ShowFile("md/sync_action"), "check\n");
  EXPECT_EQ(StoreFile("md/sync_action", "repair"), EBUSY);
}

TEST_F(ControlledSyncTest, TheRepairModeIsLocateOrParity) {
  EXPECT_EQ(ShowFile("md/repair_mode"), "locate\n");
  EXPECT_EQ(StoreFile("md/repair_mode", "parity"), 0);
  EXPECT_EQ(ShowFile("md/repair_mode"), "parity\n");
  EXPECT_EQ(StoreFile("md/repair_mode", "guess"), EINVAL);
}

TEST_F(ControlledSyncTest, ANewDeviceIsAnAbsolutePath) {
  EXPECT_EQ(StoreFile("md/new_dev", "d9.img"), EINVAL);
  EXPECT_EQ(StoreFile("md/new_dev", "/images/d9.img"), 0);
  EXPECT_EQ(StoreFile("md/new_dev", "re-add /images/d8.img"), 0);
  EXPECT_THAT(added_, ElementsAre(std::pair(std::string("/images/d9.img"), AddMode::kAdd),
                                  std::pair(std::string("/images/d8.img"), AddMode::kReAdd)));
}

TEST_F(ControlTreeTest, FaultsAreSetShownAndCleared) {
  const std::string path = "md/dev-d1.img/fault";
  EXPECT_EQ(Show(path), "none\n");
  EXPECT_EQ(Store(path, "kind = \"eio\", op = \"read\", offset = \"4K\", length = 512"), 0);
  EXPECT_EQ(Store(path, "kind = \"delay\", delay_us = 7"), 0);
  EXPECT_EQ(Show(path),
            "kind = \"eio\", op = \"read\", offset = 4096, length = 512\n"
            "kind = \"delay\", op = \"any\", delay_us = 7\n");
  EXPECT_EQ(fault_->Rules().size(), 2U);
  EXPECT_EQ(Store(path, "kind = \"bang\""), EINVAL);
  EXPECT_EQ(Store(path, ""), EINVAL);
  EXPECT_EQ(Store(path, "none"), 0);
  EXPECT_EQ(Show(path), "none\n");
  EXPECT_TRUE(fault_->Rules().empty());
}

TEST_F(ControlTreeTest, AMemberWithoutAFaultDeviceHasNoFaultFile) {
  EXPECT_EQ(Show("md/dev-d2.img/fault"), "error 2");
  EXPECT_EQ(Store("md/dev-d2.img/fault", "none"), ENOENT);
}

TEST_F(ControlTreeTest, PoliciesAreSwitchedByName) {
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    const std::string path = "md/policy/" + std::string(info.name);
    EXPECT_EQ(Show(path), policies_.Describe(info.family) + "\n");
    for (const PolicyEntry& entry : registry_.Of(info.family)) {
      EXPECT_EQ(Store(path, std::string(entry.name)), 0);
      EXPECT_EQ(policies_.Active(info.family), entry.name);
    }
    EXPECT_EQ(Store(path, "no-such-policy"), EINVAL);
  }
}

TEST_F(ControlTreeTest, EventsAreALineEach) {
  EXPECT_EQ(Show("events"), "");
  events_.Add(EventLevel::kInfo, "mounted", "", "here");
  events_.Add(EventLevel::kError, "member failed", "d3.img", "write error");
  const std::string text = Show("events");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(text, HasSubstr(" member failed d3.img: write error\n"));
}

TEST_F(ControlTreeTest, WhatDoesNotExistIsNotFound) {
  for (const char* path : {"x", "md/x", "md/rd6", "md/dev-x", "md/dev-d0.img/x", "md/level/x",
                           "mdstat/x", "md/policy/x", "md//level", "/md"}) {
    EXPECT_EQ(ErrnoOf(tree_.Find(path).status()), ENOENT) << path;
    EXPECT_EQ(ErrnoOf(tree_.List(path).status()), ENOENT) << path;
    EXPECT_EQ(ErrnoOf(tree_.Show(path).status()), ENOENT) << path;
    EXPECT_EQ(Store(path, "1"), ENOENT) << path;
  }
}

TEST_F(ControlTreeTest, FilesAreNoFoldersAndFoldersNoFiles) {
  EXPECT_EQ(ErrnoOf(tree_.List("mdstat").status()), ENOTDIR);
  EXPECT_EQ(ErrnoOf(tree_.Show("md").status()), EISDIR);
  EXPECT_EQ(ErrnoOf(tree_.Show("").status()), EISDIR);
}

TEST_F(ControlTreeTest, WhatFollowsAMemberIsNotLasting) {
  EXPECT_TRUE(tree_.Find("mdstat")->lasting);
  EXPECT_TRUE(tree_.Find("md/level")->lasting);
  EXPECT_TRUE(tree_.Find("md/policy/degraded_read")->lasting);
  EXPECT_FALSE(tree_.Find("md/rd0")->lasting);
  EXPECT_FALSE(tree_.Find("md/dev-d0.img")->lasting);
  EXPECT_FALSE(tree_.Find("md/dev-d0.img/state")->lasting);
}

}  // namespace
}  // namespace mdvol
