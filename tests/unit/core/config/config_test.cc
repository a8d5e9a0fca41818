// Tests of the parser: every key is read, every wrong thing is refused at its place.

#include "core/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/units.h"
#include "tests/support/seed.h"
#include "tests/support/temporary_folder.h"

namespace mdvol {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Config MustParse(const std::string& text) {
  const auto config = ParseConfig(text, "/etc/mdvol/a.toml");
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : Config{};
}

TEST(ConfigTest, AnEmptyFileSaysNothing) {
  const Config config = MustParse("");
  EXPECT_TRUE(config.array.members.empty());
  EXPECT_EQ(config.array.read_only, std::nullopt);
  EXPECT_EQ(config.volume.name, std::nullopt);
  EXPECT_EQ(config.io.threads, std::nullopt);
  EXPECT_EQ(config.policy.choices[0].has_value(), false);
  EXPECT_TRUE(config.faults.empty());
}

TEST(ConfigTest, ReadsArray) {
  const Config config = MustParse(
      "[array]\nmembers = ['d0', '../x/d1', '/dev/sdb']\nread_only = true\nforce = false\nrun = "
      "true");
  EXPECT_THAT(config.array.members, ElementsAre("/etc/mdvol/d0", "/etc/mdvol/../x/d1", "/dev/sdb"));
  EXPECT_EQ(config.array.read_only, true);
  EXPECT_EQ(config.array.force, false);
  EXPECT_EQ(config.array.run, true);
}

TEST(ConfigTest, TheWordMissingIsNoPath) {
  const auto config = ParseConfig("[array]\nmembers = ['missing', 'd1', 'missing']", "conf/a.toml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->array.members, ElementsAre("missing", "conf/d1", "missing"));
}

TEST(ConfigTest, RelativePathsOfARelativeFileStayRelative) {
  const auto here = ParseConfig("[array]\nmembers = ['d0', '/d1']", "a.toml");
  ASSERT_TRUE(here.ok());
  EXPECT_THAT(here->array.members, ElementsAre("d0", "/d1"));
  const auto below = ParseConfig("[array]\nmembers = ['d0', '../d1']", "conf/a.toml");
  ASSERT_TRUE(below.ok());
  EXPECT_THAT(below->array.members, ElementsAre("conf/d0", "conf/../d1"));
}

TEST(ConfigTest, ReadsVolume) {
  const Config config =
      MustParse("[volume]\nname = 'r6'\nuid = 0\ngid = 1000\nmode = 0o640\nwriteback = true");
  EXPECT_EQ(config.volume.name, "r6");
  EXPECT_EQ(config.volume.uid, 0U);
  EXPECT_EQ(config.volume.gid, 1000U);
  EXPECT_EQ(config.volume.mode, 0640U);
  EXPECT_EQ(config.volume.writeback, true);
  EXPECT_EQ(MustParse("[volume]\nmode = '0600'").volume.mode, 0600U);
  EXPECT_EQ(MustParse("[volume]\nmode = '777'").volume.mode, 0777U);
}

TEST(ConfigTest, ReadsIoAndCache) {
  const Config config = MustParse(
      "[io]\nbackend = 'uring'\ndirect = true\nthreads = 8\n[cache]\nstripe_cache_size = 1024");
  EXPECT_EQ(config.io.backend, IoBackend::kUring);
  EXPECT_EQ(config.io.direct, true);
  EXPECT_EQ(config.io.threads, 8U);
  EXPECT_EQ(config.cache.stripe_cache_size, 1024U);
  EXPECT_EQ(MustParse("[io]\nbackend = 'auto'").io.backend, IoBackend::kAuto);
  EXPECT_EQ(MustParse("[io]\nbackend = 'sync'").io.backend, IoBackend::kSync);
  EXPECT_EQ(MustParse("[cache]\nstripe_cache_size = 17").cache.stripe_cache_size, 17U);
  EXPECT_EQ(MustParse("[cache]\nstripe_cache_size = 32768").cache.stripe_cache_size, 32768U);
}

TEST(ConfigTest, ReadsPoliciesWithTheirPlaces) {
  const Config config = MustParse(
      "[policy]\ndegraded_read = 'a'\nresync_pacing = 'b'\nresync_request = 'c'\n"
      "write_admission = 'd'\nparity_workers = 'e'\nplugins = ['./p.so', '/q.so']");
  std::vector<std::string> names;
  for (const auto& choice : config.policy.choices) {
    ASSERT_TRUE(choice.has_value());
    names.push_back(choice->name);
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(config.policy.choices[1]->where, "/etc/mdvol/a.toml:3:17");
  EXPECT_THAT(config.policy.plugins, ElementsAre("/etc/mdvol/p.so", "/q.so"));
}

TEST(ConfigTest, ReadsOptionsOfPoliciesOfEveryType) {
  const Config config = MustParse(
      "[policy.options.resync_pacing.mine]\nb = true\n[policy.options.degraded_read.other]\n"
      "i = -3\nd = 0.5\ns = 'x'");
  ASSERT_EQ(config.policy.options.size(), 4U);
  const auto find = [&](const std::string& key) {
    return *std::find_if(config.policy.options.begin(), config.policy.options.end(),
                         [&](const PolicyOption& option) { return option.key == key; });
  };
  EXPECT_EQ(find("b").family, PolicyFamily::kResyncPacing);
  EXPECT_EQ(find("b").policy, "mine");
  EXPECT_EQ(find("b").value, PolicyOptionValue(true));
  EXPECT_EQ(find("b").where, "/etc/mdvol/a.toml:2:5");
  EXPECT_EQ(find("i").family, PolicyFamily::kDegradedRead);
  EXPECT_EQ(find("i").policy, "other");
  EXPECT_EQ(find("i").value, PolicyOptionValue(int64_t{-3}));
  EXPECT_EQ(find("d").value, PolicyOptionValue(0.5));
  EXPECT_EQ(find("s").value, PolicyOptionValue(std::string("x")));
}

TEST(ConfigTest, ReadsSync) {
  const Config config = MustParse(
      "[sync]\nspeed_min = '1M'\nspeed_max = 2000\ncheckpoint_interval = '500ms'\nrepair = "
      "'parity'");
  EXPECT_EQ(config.sync.speed_min_bytes, kMiB);
  EXPECT_EQ(config.sync.speed_max_bytes, 2000 * kKiB);  // bare numbers are KiB, as in md
  EXPECT_EQ(config.sync.checkpoint_interval_ms, 500U);
  EXPECT_EQ(config.sync.repair, RepairMode::kParity);
  EXPECT_EQ(MustParse("[sync]\ncheckpoint_interval = 30").sync.checkpoint_interval_ms, 30'000U);
  EXPECT_EQ(MustParse("[sync]\ncheckpoint_interval = '7s'").sync.checkpoint_interval_ms, 7'000U);
  EXPECT_EQ(MustParse("[sync]\ncheckpoint_interval = '2m'").sync.checkpoint_interval_ms, 120'000U);
  EXPECT_EQ(MustParse("[sync]\nspeed_min = '1M'\nspeed_max = '1M'").sync.speed_max_bytes, kMiB);
}

TEST(ConfigTest, ReadsMemberModel) {
  const Config config = MustParse(
      "[member_model]\nlatency_us = 100\nseek_us = 8000\nbandwidth = '150M'\nparallelism = 2");
  EXPECT_EQ(config.member_model.kind, std::nullopt);
  EXPECT_EQ(config.member_model.latency_us, 100U);
  EXPECT_EQ(config.member_model.seek_us, 8000U);
  EXPECT_EQ(config.member_model.bandwidth_bytes, 150 * kMiB);
  EXPECT_EQ(config.member_model.parallelism, 2U);
  const auto kind_of = [](const std::string& word) {
    return MustParse("[member_model]\nkind = '" + word + "'").member_model.kind;
  };
  EXPECT_EQ(kind_of("hdd"), MemberModelKind::kHdd);
  EXPECT_EQ(kind_of("ssd"), MemberModelKind::kSsd);
  EXPECT_EQ(kind_of("nvme"), MemberModelKind::kNvme);
  EXPECT_EQ(kind_of("none"), MemberModelKind::kNone);
}

TEST(ConfigTest, FaultsNameMembersByPathFromTheFolderOfTheFile) {
  const Config config = MustParse(
      "[[fault]]\nmember = './d1.img'\nkind = 'eio'\n"
      "[[fault]]\nmember = '/dev/sda'\nkind = 'eio'\n");
  ASSERT_EQ(config.faults.size(), 2U);
  EXPECT_EQ(config.faults[0].member, MustParse("array.members = ['d1.img']").array.members[0]);
  EXPECT_NE(config.faults[0].where.find(":2:10"), std::string::npos) << config.faults[0].where;
  EXPECT_EQ(config.faults[1].member, "/dev/sda");
}

TEST(ConfigTest, ReadsFaultsInTheirOrder) {
  const Config config = MustParse(
      "[[fault]]\nmember = 3\nop = 'read'\noffset = '1M'\nlength = 4096\nnth = 2\nprobability = 1\n"
      "kind = 'corrupt'\nuntil = 'write'\n[[fault]]\nmember = 'd1.img'\nkind = 'delay'\n"
      "[[fault]]\nmember = 0\nkind = 'delay'\ndelay_us = 5\nprobability = 0.25");
  ASSERT_EQ(config.faults.size(), 3U);
  EXPECT_EQ(config.faults[0].member, "3");
  const FaultRule& first = config.faults[0].rule;
  EXPECT_EQ(first.op, FaultOp::kRead);
  EXPECT_EQ(first.offset_bytes, kMiB);
  EXPECT_EQ(first.length_bytes, 4096U);
  EXPECT_EQ(first.nth, 2U);
  EXPECT_EQ(first.probability, 1.0);
  EXPECT_EQ(first.kind, FaultKind::kCorrupt);
  EXPECT_EQ(first.until, FaultUntil::kWrite);
  EXPECT_EQ(config.faults[1].member, "d1.img");
  const FaultRule& second = config.faults[1].rule;  // all defaults
  EXPECT_EQ(second.op, FaultOp::kAny);
  EXPECT_EQ(second.offset_bytes, 0U);
  EXPECT_EQ(second.length_bytes, FaultRule{}.length_bytes);
  EXPECT_EQ(second.nth, 0U);
  EXPECT_EQ(second.until, FaultUntil::kNever);
  EXPECT_EQ(second.delay_ns, kDefaultFaultDelayUs * 1000);
  EXPECT_EQ(config.faults[2].rule.delay_ns, 5000U);
  EXPECT_EQ(config.faults[2].rule.probability, 0.25);
}

TEST(ConfigTest, ReadsTheWordsOfFaults) {
  const auto rule_of = [](const std::string& keys) {
    return MustParse("[[fault]]\nmember = 0\n" + keys).faults.at(0).rule;
  };
  EXPECT_EQ(rule_of("kind = 'eio'").kind, FaultKind::kError);
  EXPECT_EQ(rule_of("kind = 'eio'").error_number, EIO);
  EXPECT_EQ(rule_of("kind = 'drop'\nop = 'write'").kind, FaultKind::kDrop);
  EXPECT_EQ(rule_of("kind = 'torn'\nop = 'any'").kind, FaultKind::kTorn);
  EXPECT_EQ(rule_of("kind = 'eio'\nop = 'flush'").op, FaultOp::kFlush);
  EXPECT_EQ(rule_of("kind = 'drop'\nop = 'write'").op, FaultOp::kWrite);
  EXPECT_EQ(rule_of("kind = 'eio'\nuntil = 'never'").until, FaultUntil::kNever);
}

TEST(ParseFaultKeysTest, TakesTomlOnOneLineOrOnSeveral) {
  for (const std::string text :
       {"kind = 'eio'\nop = 'read'\noffset = 512\n", "kind = 'eio', op = 'read', offset = 512\n",
        "kind='eio',op='read',offset=512"}) {
    const auto fault = ParseFaultKeys(text);
    ASSERT_TRUE(fault.ok()) << text << fault.status();
    EXPECT_EQ(fault->rule.kind, FaultKind::kError) << text;
    EXPECT_EQ(fault->rule.op, FaultOp::kRead) << text;
    EXPECT_EQ(fault->rule.offset_bytes, 512U) << text;
    EXPECT_EQ(fault->member, "") << text;
  }
}

TEST(ParseFaultKeysTest, RefusesWhatIsNoFault) {
  for (const std::string text :
       {"", "kind", "kind = 'eio' }\nx = {", "kind = 'eio'\nmember = 3", "op = 'read'",
        "kind = 'eio', what = 1", "kind = 'eio'\n[fault]", "kind = 'eio', kind = 'eio'"}) {
    const auto fault = ParseFaultKeys(text);
    EXPECT_FALSE(fault.ok()) << text;
    EXPECT_TRUE(IsUsageError(fault.status())) << text;
    EXPECT_THAT(MessageOf(fault.status()), StartsWith("fault:")) << text;
  }
}

struct Refusal {
  std::string text;
  std::string place;  // "line:column"
  std::string says;
};

// On one line, and without what the text may hold.
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.place << " " << refusal.says;
}

class ConfigRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(ConfigRefusalTest, IsOneLineAtThePlace) {
  const Refusal& refusal = GetParam();
  const auto config = ParseConfig(refusal.text, "dir/a.toml");
  ASSERT_FALSE(config.ok());
  EXPECT_TRUE(IsUsageError(config.status()));
  const std::string message = MessageOf(config.status());
  EXPECT_THAT(message, StartsWith("dir/a.toml:" + refusal.place + ": "));
  EXPECT_THAT(message, HasSubstr(refusal.says));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    UnknownKeys, ConfigRefusalTest,
    ::testing::Values(
        Refusal{"arry = 1", "1:1", "arry: unknown key, known are array, volume"},
        Refusal{"\n[arry]\n", "2:2", "unknown"}, Refusal{"members = ['a']", "1:1", "unknown"},
        Refusal{"[array]\nforce = true\nforc = true", "3:1",
                "array.forc: unknown key, known are members, read_only, force, run"},
        Refusal{"[volume]\n'' = 1", "2:1", "unknown"}, Refusal{"[io]\nx.y = 1", "2:1", "io.x"},
        Refusal{"[cache]\nsize = 1", "2:1", "stripe_cache_size"},
        Refusal{"[policy]\nplugin = []", "2:1", "policy.plugin"},
        Refusal{"[policy.options.pace.x]\na = 1", "1:17", "policy.options.pace: unknown"},
        Refusal{"[sync]\nspeed = 1", "2:1", "speed_min"},
        Refusal{"[member_model]\niops = 1", "2:1", "member_model.iops"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nwhere = 1", "4:1", "fault.where"}));

INSTANTIATE_TEST_SUITE_P(
    WrongTypes, ConfigRefusalTest,
    ::testing::Values(
        Refusal{"array = 1", "1:9", "must be a section [array], not a whole number"},
        Refusal{"[[array]]", "1:1", "must be a section [array], not a list"},
        Refusal{"[array]\nmembers = 'd0'", "2:11", "must be a list of paths"},
        Refusal{"[array]\nmembers = ['d0', 3]", "2:18", "must be a path in quotes"},
        Refusal{"[array]\nforce = 1", "2:9", "array.force: must be true or false, not a whole"},
        Refusal{"[array]\nforce = 'yes'", "2:9", "not a string"},
        Refusal{"[volume]\nname = 1", "2:8", "must be a string"},
        Refusal{"[volume]\nuid = 'root'", "2:7", "must be a whole number, not a string"},
        Refusal{"[volume]\nmode = 1.5", "2:8", "as in 0o600, not a fraction"},
        Refusal{"[volume]\nmode = true", "2:8", "must be permission bits"},
        Refusal{"[io]\nthreads = 1.0", "2:11", "must be a whole number, not a fraction"},
        Refusal{"[io]\nthreads = 2020-01-01", "2:11", "not a date"},
        Refusal{"[io]\nbackend = 1", "2:11", "must be one of auto, sync, uring"},
        Refusal{"[policy]\ndegraded_read = 1", "2:17", "must be a string"},
        Refusal{"[policy]\noptions = 1", "2:11", "[policy.options.FAMILY.NAME]"},
        Refusal{"[policy]\noptions.degraded_read = 1", "2:25", "FAMILY.NAME"},
        Refusal{"[policy]\noptions.degraded_read.x = 1", "2:27", "FAMILY.NAME"},
        Refusal{"[policy.options.degraded_read.x]\na = [1]", "2:5", "not a list"},
        Refusal{"[sync]\nspeed_min = true", "2:13", "must be a size"},
        Refusal{"[sync]\ncheckpoint_interval = 1.5", "2:23", "must be a time"},
        Refusal{"[member_model]\nbandwidth = 1.5", "2:13", "must be a size"},
        Refusal{"fault = 1", "1:9", "[[fault]]"},
        Refusal{"[fault]\nmember = 1", "1:1", "[[fault]]"},
        Refusal{"fault = [1]", "1:9", "[[fault]]"},
        Refusal{"[[fault]]\nmember = 1.5\nkind = 'eio'", "2:10", "slot number or a member's name"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nprobability = '1'", "4:15", "from 0 to 1"}));

INSTANTIATE_TEST_SUITE_P(
    Nonsense, ConfigRefusalTest,
    ::testing::Values(
        Refusal{"[array]\nmembers = []", "2:11", "is empty"},
        Refusal{"[array]\nmembers = ['d0', '']", "2:18", "is no path"},
        Refusal{"[array]\nmembers = [\"d\\u0000\"]", "2:12", "is no path"},
        Refusal{"[array]\nmembers = ['d0', './d0']", "2:18", "named twice"},
        Refusal{"[volume]\nname = ''", "2:8", "is no file name"},
        Refusal{"[volume]\nname = 'a/b'", "2:8", "is no file name"},
        Refusal{"[volume]\nname = \"a\\nb\"", "2:8", "is no file name"},
        Refusal{"[volume]\nname = '..'", "2:8", "taken"},
        Refusal{"[volume]\nname = 'status.json'", "2:8", "taken by the mount"},
        Refusal{"[volume]\nname = 'md'", "2:8", "taken by the mount"},
        Refusal{"[volume]\nuid = -1", "2:7", "-1 is out of range: use 0 to 4294967294"},
        Refusal{"[volume]\nuid = 4294967295", "2:7", "out of range"},
        Refusal{"[volume]\nmode = 600", "2:8", "0o600"},
        Refusal{"[volume]\nmode = -1", "2:8", "octal"},
        Refusal{"[volume]\nmode = '0800'", "2:8", "octal"},
        Refusal{"[volume]\nmode = ''", "2:8", "octal"},
        Refusal{"[io]\nbackend = 'aio'", "2:11", "'aio' is unknown, use one of auto, sync, uring"},
        Refusal{"[io]\nthreads = 0", "2:11", "1 to 1024"},
        Refusal{"[io]\nthreads = 1025", "2:11", "1 to 1024"},
        Refusal{"[cache]\nstripe_cache_size = 16", "2:21", "17 to 32768"},
        Refusal{"[policy]\ndegraded_read = ''", "2:17", "is empty"},
        Refusal{"[sync]\nspeed_min = 0", "2:13", "more than 0"},
        Refusal{"[sync]\nspeed_min = '1Q'", "2:13", "unknown unit"},
        Refusal{"[sync]\nspeed_min = -1", "2:13", "'-1'"},
        Refusal{"[sync]\nspeed_max = 1\nspeed_min = 2", "3:13", "above speed_max"},
        Refusal{"[sync]\ncheckpoint_interval = 0", "2:23", "out of range"},
        Refusal{"[sync]\ncheckpoint_interval = -5", "2:23", "is no time"},
        Refusal{"[sync]\ncheckpoint_interval = '5h'", "2:23", "is no time"},
        Refusal{"[sync]\ncheckpoint_interval = '86401s'", "2:23", "out of range"},
        Refusal{"[sync]\ncheckpoint_interval = '9999999999999999999m'", "2:23", "out of range"},
        Refusal{"[sync]\nrepair = 'p'", "2:10", "locate, parity"},
        Refusal{"[member_model]\nkind = 'tape'", "2:8", "hdd, ssd, nvme, none"},
        Refusal{"[member_model]\nseek_us = 1\nkind = 'hdd'", "3:8", "leave it out"},
        Refusal{"[member_model]\nparallelism = 0", "2:15", "1 to 1024"},
        Refusal{"[member_model]\nbandwidth = 0", "2:13", "more than 0"},
        Refusal{"[[fault]]\nmember = 1", "1:1", "has no kind"},
        Refusal{"[[fault]]\nkind = 'eio'", "1:1", "has no member"},
        Refusal{"[[fault]]\nmember = 255\nkind = 'eio'", "2:10", "0 to 254"},
        Refusal{"[[fault]]\nmember = ''\nkind = 'eio'", "2:10", "is empty"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'flood'", "3:8", "eio, delay, corrupt, drop, torn"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'drop'\nop = 'read'", "3:8", "does not go"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'torn'\nop = 'flush'", "3:8", "does not go"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'corrupt'\nop = 'flush'", "3:8", "does not go"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nlength = 0", "4:10", "more than 0"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nnth = 0", "4:7", "out of range"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nprobability = 1.5", "4:15", "from 0 to 1"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nprobability = nan", "4:15", "from 0 to 1"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\noffset = '1X'", "4:10", "unknown unit"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\ndelay_us = 1", "4:12", "delay"},
        Refusal{"[[fault]]\nmember = 1\nkind = 'eio'\nuntil = 'read'", "4:9", "write, never"}));

INSTANTIATE_TEST_SUITE_P(
    Syntax, ConfigRefusalTest,
    ::testing::Values(Refusal{"[array]\nforce = true\nforce = false", "3:9", "redefine"},
                      Refusal{"[array]\n[io]\n[array]", "3:1", "redefine"},
                      Refusal{"[array\n", "1:7", "expected ']'"},
                      Refusal{"force", "1:6", "end-of-file"},
                      Refusal{"[array]\nforce =", "2:8", "end-of-file"},
                      Refusal{std::string("[array]\nforce = \0true", 21), "2:9",
                              "control character"},
                      Refusal{"[array]\nmembers = ['\xff\xfe']", "2:12", "utf-8"},
                      Refusal{"[array]\nmembers = " + std::string(10'000, '['), "2:267", "depth"}));

TEST(ConfigTest, OfSeveralErrorsTheFirstInTheFileIsReported) {
  const auto config =
      ParseConfig("[volume]\nuid = -1\n[array]\nzzz = 1\naaa = 1\n[cache]\nx = 1", "a.toml");
  EXPECT_THAT(MessageOf(config.status()), StartsWith("a.toml:2:7: volume.uid"));
}

TEST(ConfigTest, KeysAreListedOnce) {
  std::vector<std::string> keys = ConfigKeys();
  EXPECT_THAT(keys, ::testing::Contains("array.members"));
  EXPECT_THAT(keys, ::testing::Contains("policy.options.FAMILY.NAME"));
  EXPECT_THAT(keys, ::testing::Contains("fault.until"));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

// Whatever bytes come in: a config or one line, and never a crash.
TEST(ConfigTest, MutatedTextIsAConfigOrOneLine) {
  testing::Prng prng(testing::TestSeed("ConfigMutation"));
  const std::string base =
      "[array]\nmembers = ['d0']\nforce = true\n[volume]\nmode = 0o600\n[sync]\nspeed_min = '1M'\n"
      "[[fault]]\nmember = 3\nkind = 'eio'\nprobability = 0.5\n[policy.options.degraded_read.x]\na "
      "= 1";
  for (int round = 0; round < 3000; ++round) {
    std::string text = base;
    for (uint64_t i = prng.Between(1, 4); i-- > 0;) {
      const size_t at = prng.Below(text.size());
      if (prng.OneIn(3)) {
        text.erase(at, prng.Between(1, 5));
      } else if (prng.OneIn(2)) {
        text.insert(at, 1, static_cast<char>(prng.Below(256)));
      } else {
        text[at] = static_cast<char>("[]='\".\n#01e{}"[prng.Below(13)]);
      }
    }
    const auto config = ParseConfig(text, "a.toml");
    if (!config.ok()) {
      EXPECT_TRUE(IsUsageError(config.status())) << text;
      EXPECT_THAT(MessageOf(config.status()), StartsWith("a.toml:")) << text;
      EXPECT_EQ(MessageOf(config.status()).find('\n'), std::string::npos) << text;
    }
  }
}

class LoadConfigTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }

  const testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  const std::string path_ = folder_ + "/a.toml";
};

TEST_F(LoadConfigTest, ReadsAFileAndStartsPathsAtItsFolder) {
  const auto config = LoadConfig(Write("[array]\nmembers = ['d0']"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->array.members, ElementsAre(folder_ + "/d0"));
}

TEST_F(LoadConfigTest, NamesThePathOfWhatCannotBeRead) {
  const auto missing = LoadConfig(folder_ + "/none.toml");
  EXPECT_TRUE(IsUsageError(missing.status()));
  EXPECT_EQ(MessageOf(missing.status()),
            folder_ + "/none.toml: cannot be read: No such file or directory");
  const auto directory = LoadConfig(folder_);
  EXPECT_TRUE(IsUsageError(directory.status()));
  EXPECT_EQ(MessageOf(directory.status()), folder_ + ": is a directory, name a configuration file");
}

TEST(ConfigTest, AKeyOfTooManyPartsIsRefusedBeforeItIsParsed) {
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i) {
    key += ".a";
  }
  const auto config =
      ParseConfig("# a comment\nx = '''\n" + key + "'''\n" + key + " = 1", "c.toml");
  EXPECT_TRUE(IsUsageError(config.status()));
  EXPECT_EQ(MessageOf(config.status()),
            "c.toml:4:1: a key of too many parts: no key has more than five");
  EXPECT_TRUE(ParseFaultKeys(key + " = 1").status().message().find("too many parts") !=
              absl::string_view::npos);
}

TEST(ConfigTest, DotsInStringsAndCommentsAreNoKeys) {
  const std::string up = "../../../../../../../../../../../../../../../../../../d0.img";
  const std::string text =
      "# " + up + "\n[array]\nmembers = ['" + up + "', \"a\\\"" + up + "\", '''" + up + "b''']";
  const auto config = ParseConfig(text, "c.toml");
  EXPECT_TRUE(config.ok()) << config.status();
}

// `..` behind a folder goes; behind a link it leads elsewhere, and is the kernel's to follow.
TEST_F(LoadConfigTest, AMemberBehindALinkStaysTheFileThatItNames) {
  std::filesystem::create_directories(folder_ + "/elsewhere/inner");
  std::filesystem::create_symlink("elsewhere/inner", folder_ + "/link");
  const auto config =
      LoadConfig(Write("[array]\nmembers = ['link/../d0', 'elsewhere/../d1', './d2']"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->array.members,
              ElementsAre(folder_ + "/link/../d0", folder_ + "/d1", folder_ + "/d2"));
}

TEST_F(LoadConfigTest, AFifoIsRefusedAndNotWaitedFor) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(MessageOf(LoadConfig(path).status()),
            path + ": is no regular file, name a configuration file");
}

TEST_F(LoadConfigTest, TakesTheLargestFileAndRefusesALargerOne) {
  std::string text = "[array]\nforce = true\n#";
  text.resize(kMiB, 'x');
  EXPECT_TRUE(LoadConfig(Write(text)).ok());
  text += 'x';
  const auto config = LoadConfig(Write(text));
  EXPECT_TRUE(IsUsageError(config.status()));
  EXPECT_THAT(MessageOf(config.status()), HasSubstr("larger than 1M"));
  EXPECT_FALSE(LoadConfig("/dev/zero").ok());
}

}  // namespace
}  // namespace mdvol
