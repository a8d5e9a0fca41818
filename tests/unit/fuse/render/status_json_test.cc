// MNT/status.json: its keys, which scripts rely on, and their values.

#include "fuse/render/status_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/fake_array.h"

namespace mdvol {
namespace {

using nlohmann::json;

class StatusJsonTest : public ::testing::Test {
 protected:
  json Parse() { return json::parse(RenderStatusJson(array_, {4711, "1.2.3", &policies_})); }

  std::vector<std::string> KeysOf(const json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) {
      keys.push_back(key);
    }
    return keys;
  }

  ArraySnapshot array_ = testing::FakeSnapshot();
  const Registry registry_;
  PolicySet set_;
  PolicySelection policies_{registry_, set_};
};

TEST_F(StatusJsonTest, HasExactlyTheseKeys) {
  // Sorted, as json keeps them. Scripts rely on them: a key may be added, never renamed.
  const json status = Parse();
  EXPECT_EQ(KeysOf(status), (std::vector<std::string>{"array_bytes",
                                                      "chunk_bytes",
                                                      "component_bytes",
                                                      "consistency_policy",
                                                      "created_s",
                                                      "degraded",
                                                      "dirty",
                                                      "events",
                                                      "layout",
                                                      "level",
                                                      "located",
                                                      "located_count",
                                                      "members",
                                                      "metadata",
                                                      "name",
                                                      "outcome_socket",
                                                      "pid",
                                                      "policies",
                                                      "raid_disks",
                                                      "state",
                                                      "sync",
                                                      "updated_s",
                                                      "uuid",
                                                      "version"}));
  EXPECT_EQ(KeysOf(status["sync"]),
            (std::vector<std::string>{"action", "done_bytes", "eta_s", "last_action",
                                      "mismatch_cnt", "speed_bytes_per_s", "total_bytes"}));
  EXPECT_EQ(
      KeysOf(status["members"][0]),
      (std::vector<std::string>{"bad_blocks", "data_offset_bytes", "dev_number", "errors", "name",
                                "path", "recovery_bytes", "role", "slot", "state", "uuid"}));
}

TEST_F(StatusJsonTest, TellsTheArray) {
  array_.degraded = 1;
  array_.state = ArrayState::kActive;
  const json status = Parse();
  EXPECT_EQ(status["name"], "host:big");
  EXPECT_EQ(status["uuid"], "10111213:14151617:18191a1b:1c1d1e1f");
  EXPECT_EQ(status["level"], "raid6");
  EXPECT_EQ(status["layout"], "left-symmetric");
  EXPECT_EQ(status["metadata"], "1.2");
  EXPECT_EQ(status["raid_disks"], 6);
  EXPECT_EQ(status["chunk_bytes"], 65536);
  EXPECT_EQ(status["array_bytes"], 4194304);
  EXPECT_EQ(status["component_bytes"], 1048576);
  EXPECT_EQ(status["state"], "active");
  EXPECT_EQ(status["degraded"], 1);
  EXPECT_EQ(status["consistency_policy"], "bitmap");
  EXPECT_EQ(status["events"], 17);
  EXPECT_EQ(status["pid"], 4711);
  EXPECT_EQ(status["version"], "1.2.3");
  EXPECT_EQ(status["located"], json::array());
}

TEST_F(StatusJsonTest, TellsWhatIsSyncedAndHowFar) {
  SyncStatus sync;
  sync.action = SyncAction::kRecover;
  sync.last_action = SyncAction::kRecover;
  sync.done_bytes = 65536;
  sync.total_bytes = 1048576;
  sync.speed_bytes = 4096;
  sync.eta_s = 240;
  sync.mismatch_sectors = 16;
  const json shown = json::parse(RenderStatusJson(array_, {1, "1", nullptr}, sync))["sync"];
  EXPECT_EQ(shown["action"], "recover");
  EXPECT_EQ(shown["last_action"], "recover");
  EXPECT_EQ(shown["done_bytes"], 65536);
  EXPECT_EQ(shown["total_bytes"], 1048576);
  EXPECT_EQ(shown["speed_bytes_per_s"], 4096);
  EXPECT_EQ(shown["eta_s"], 240);
  EXPECT_EQ(shown["mismatch_cnt"], 16);
}

TEST_F(StatusJsonTest, TellsWhatWasLocated) {
  SyncStatus sync;
  sync.located = {{.stripe = 3,
                   .columns = {8192, 16384},
                   .kind = WrongKind::kData,
                   .slot = 1,
                   .data_index = 2,
                   .repaired = true},
                  {.stripe = 4, .columns = {0, 4096}, .kind = WrongKind::kQ, .slot = 5},
                  {.stripe = 5, .columns = {0, 4096}, .kind = WrongKind::kSeveral}};
  sync.located_count = 7;
  const json status = json::parse(RenderStatusJson(array_, {1, "1", nullptr}, sync));
  EXPECT_EQ(status["located_count"], 7);
  const json& located = status["located"];
  ASSERT_EQ(located.size(), 3U);
  // Stripes of four chunks of 64 KiB.
  EXPECT_EQ(located[0], json({{"stripe", 3},
                              {"lane", 2},
                              {"lanes", 2},
                              {"member", "d1.img"},
                              {"kind", "data"},
                              {"volume_offset", 3 * 262144 + 2 * 65536 + 8192},
                              {"volume_length", 8192},
                              {"repaired", true}}));
  EXPECT_EQ(located[1]["kind"], "q");
  EXPECT_EQ(located[1]["member"], "d5.img");
  EXPECT_EQ(located[1]["volume_offset"], 4 * 262144);
  EXPECT_EQ(located[1]["volume_length"], 262144);
  EXPECT_EQ(located[2]["kind"], "several");
  EXPECT_TRUE(located[2]["member"].is_null());
}

TEST_F(StatusJsonTest, TellsTheMembers) {
  array_.members[1].bad_blocks = {{8192, 12288}};
  array_.members[1].errors = 3;
  array_.members[2].faulty = true;
  array_.members[2].in_sync = false;
  array_.members[2].slot.reset();
  const json members = Parse()["members"];
  ASSERT_EQ(members.size(), 6U);
  EXPECT_EQ(members[1]["name"], "d1.img");
  EXPECT_EQ(members[1]["path"], "/images/d1.img");
  EXPECT_EQ(members[1]["slot"], 1);
  EXPECT_EQ(members[1]["state"], "in_sync");
  EXPECT_EQ(members[1]["role"], "active");
  EXPECT_EQ(members[1]["uuid"], "a1a1a1a1:a1a1a1a1:a1a1a1a1:a1a1a1a1");
  EXPECT_EQ(members[1]["data_offset_bytes"], 1048576);
  EXPECT_EQ(members[1]["errors"], 3);
  EXPECT_EQ(members[1]["bad_blocks"],
            json::array({{{"offset_bytes", 8192}, {"length_bytes", 4096}}}));
  EXPECT_TRUE(members[2]["slot"].is_null());
  EXPECT_EQ(members[2]["role"], "faulty");
}

TEST_F(StatusJsonTest, TellsTheActivePolicyOfEveryFamily) {
  const json policies = Parse()["policies"];
  EXPECT_EQ(policies.size(), kPolicyFamilyCount);
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    EXPECT_EQ(policies[std::string(info.name)], policies_.Active(info.family));
  }
}

TEST_F(StatusJsonTest, APathThatIsNotUtf8CanBeHadByteForByte) {
  array_.members[1].path = "/images/a b\\\xff\x80";
  array_.members[2].path = "/images/ \\2\x7f\u00e9";
  const json members = Parse()["members"];
  EXPECT_EQ(members[1]["path_escaped"], "/images/a\\040b\\134\\377\\200");
  EXPECT_FALSE(members[2].contains("path_escaped"));
  EXPECT_EQ(members[2]["path"], array_.members[2].path);
}

TEST_F(StatusJsonTest, ANameThatIsNotUtf8IsStillValidJson) {
  array_.name = "host:\xff\xfe";
  EXPECT_FALSE(Parse()["name"].get<std::string>().empty());
}

}  // namespace
}  // namespace mdvol
