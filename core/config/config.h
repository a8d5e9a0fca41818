// The configuration: TOML to plain structs. Every value is optional; what is absent was not said,
// so that the command line can be laid over a file (merge.h) before defaults are taken.
//
// Parsing accepts exactly the keys of examples/array.toml. Unknown keys, wrong types, duplicates
// and nonsense values are usage errors of one line, "file:line:column: what, remedy"; of several
// the first in the file is reported. Relative paths start at the folder of the file. Values, no
// locking.

#ifndef MDVOL_CORE_CONFIG_CONFIG_H_
#define MDVOL_CORE_CONFIG_CONFIG_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/device/fault_device.h"
#include "core/policy/families.h"
#include "core/stripe/sync_types.h"

namespace mdvol {

// Where absent values end up.
inline constexpr char kDefaultVolumeName[] = "volume";
inline constexpr uint32_t kDefaultVolumeMode = 0600;
inline constexpr uint32_t kDefaultThreads = 64;

struct ArrayConfig {
  std::vector<std::string> members;
  std::optional<bool> read_only;
  std::optional<bool> force;
  std::optional<bool> run;
};

struct VolumeConfig {
  std::optional<std::string> name;  // of the file in the mount
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<uint32_t> mode;  // permission bits
  std::optional<bool> writeback;
};

enum class IoBackend : uint8_t { kAuto, kSync, kUring };

struct IoConfig {
  std::optional<IoBackend> backend;
  std::optional<bool> direct;
  std::optional<uint32_t> threads;
};

struct CacheConfig {
  std::optional<uint64_t> stripe_cache_size;  // lanes per member
};

// The choice of one family. Names belong to the registry and to plugins, which are loaded later;
// the place is kept so that an unknown name can still be reported where it stands.
struct PolicyChoice {
  std::string name;
  std::string where;  // "file:line:column", or "--policy"
};

using PolicyOptionValue = std::variant<bool, int64_t, double, std::string>;

// One key of [policy.options.FAMILY.NAME].
struct PolicyOption {
  PolicyFamily family = PolicyFamily::kDegradedRead;
  std::string policy;
  std::string key;
  PolicyOptionValue value;
  std::string where;
};

struct PolicyConfig {
  std::array<std::optional<PolicyChoice>, kPolicyFamilyCount> choices;  // by IndexOf(family)
  std::vector<std::string> plugins;
  std::vector<PolicyOption> options;
};

struct SyncConfig {
  std::optional<uint64_t> speed_min_bytes;  // per second and member
  std::optional<uint64_t> speed_max_bytes;
  std::optional<uint64_t> checkpoint_interval_ms;
  std::optional<RepairMode> repair;
};

enum class MemberModelKind : uint8_t { kNone, kHdd, kSsd, kNvme };

// Either a kind or numbers of one's own.
struct MemberModelConfig {
  std::optional<MemberModelKind> kind;
  std::optional<uint64_t> latency_us;
  std::optional<uint64_t> seek_us;
  std::optional<uint64_t> bandwidth_bytes;  // per second
  std::optional<uint32_t> parallelism;
};

// One [[fault]]: what the member's FaultDevice is to do.
struct FaultConfig {
  std::string member;  // a slot number, a path or a dev-NAME; empty where the place says it
  std::string where;   // of `member`: "file:line:column"
  FaultRule rule;
};

inline constexpr uint64_t kDefaultFaultDelayUs = 100'000;  // for kind = "delay" without delay_us

struct Config {
  ArrayConfig array;
  VolumeConfig volume;
  IoConfig io;
  CacheConfig cache;
  PolicyConfig policy;
  SyncConfig sync;
  MemberModelConfig member_model;
  std::vector<FaultConfig> faults;
};

// Reads and parses the file. A file that cannot be read is a usage error too: it names the path.
absl::StatusOr<Config> LoadConfig(const std::string& path);

// Parses `text`. `path` is used in messages, and its folder for relative paths.
absl::StatusOr<Config> ParseConfig(std::string_view text, const std::string& path);

// The keys of a [[fault]] table without `member`, as they are written to md/dev-NAME/fault: TOML,
// or on one line with commas between them: kind = "eio", op = "read".
absl::StatusOr<FaultConfig> ParseFaultKeys(std::string_view text);

// Every key that ParseConfig knows, as "array.members", "fault.kind" or
// "policy.options.FAMILY.NAME", for documentation and its test.
std::vector<std::string> ConfigKeys();

}  // namespace mdvol

#endif  // MDVOL_CORE_CONFIG_CONFIG_H_
