// See config_rules.h.

#include "core/config/config_rules.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/base/units.h"

namespace mdvol::config_internal {
namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint64_t kMinStripeCache = 17;  // md's own bounds of stripe_cache_size
constexpr uint64_t kMaxStripeCache = 32768;
constexpr uint64_t kMaxId = std::numeric_limits<uint32_t>::max() - 1;  // the last one means "none"
constexpr uint64_t kMaxModelUs = 60'000'000;
constexpr uint64_t kMaxParallelism = 1024;
constexpr uint64_t kDayMs = uint64_t{24} * 3600 * 1000;
constexpr size_t kMaxFileName = 255;

// ---- [array], [volume], [io], [cache] --------------------------------------------------------

constexpr std::array<KeyRule<ArrayConfig>, 4> kArrayKeys{{
    {"members",
     [](const Value& value, ArrayConfig& array) {
       value.ReadPaths(array.members, "missing");
       if (const toml::array* list = value.node().as_array(); list != nullptr && list->empty()) {
         value.AddError("is empty: name the members, or leave the key out");
       }
     }},
    {"read_only", [](const Value& value, ArrayConfig& array) { value.ReadBool(array.read_only); }},
    {"force", [](const Value& value, ArrayConfig& array) { value.ReadBool(array.force); }},
    {"run", [](const Value& value, ArrayConfig& array) { value.ReadBool(array.run); }},
}};

// What else lies in the mount's root.
constexpr std::array<std::string_view, 7> kTakenNames{".",      "..",     "mdstat", "status.json",
                                                      "events", "iostat", "md"};

void ReadVolumeName(const Value& value, VolumeConfig& volume) {
  std::optional<std::string> name;
  value.ReadString(name);
  if (!name.has_value()) {
    return;
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  const bool is_file_name = !name->empty() && name->size() <= kMaxFileName &&
                            name->find('/') == std::string::npos &&
                            std::none_of(name->begin(), name->end(), is_control);
  if (!is_file_name) {
    value.AddError("is no file name: use 1 to 255 characters without '/' and control characters");
  } else if (std::find(kTakenNames.begin(), kTakenNames.end(), *name) != kTakenNames.end()) {
    value.AddError("'" + *name + "' is taken by the mount itself: choose another name");
  } else {
    volume.name = std::move(name);
  }
}

constexpr std::array<KeyRule<VolumeConfig>, 5> kVolumeKeys{{
    {"name", ReadVolumeName},
    {"uid",
     [](const Value& value, VolumeConfig& volume) { value.ReadInteger(0, kMaxId, volume.uid); }},
    {"gid",
     [](const Value& value, VolumeConfig& volume) { value.ReadInteger(0, kMaxId, volume.gid); }},
    {"mode", [](const Value& value, VolumeConfig& volume) { value.ReadMode(volume.mode); }},
    {"writeback",
     [](const Value& value, VolumeConfig& volume) { value.ReadBool(volume.writeback); }},
}};

constexpr std::array<Word<IoBackend>, 3> kBackends{
    {{"auto", IoBackend::kAuto}, {"sync", IoBackend::kSync}, {"uring", IoBackend::kUring}}};

constexpr std::array<KeyRule<IoConfig>, 3> kIoKeys{{
    {"backend",
     [](const Value& value, IoConfig& io) { value.ReadWord<IoBackend>(kBackends, io.backend); }},
    {"direct", [](const Value& value, IoConfig& io) { value.ReadBool(io.direct); }},
    {"threads",
     [](const Value& value, IoConfig& io) { value.ReadInteger(1, kMaxThreads, io.threads); }},
}};

constexpr std::array<KeyRule<CacheConfig>, 1> kCacheKeys{{
    {"stripe_cache_size",
     [](const Value& value, CacheConfig& cache) {
       value.ReadInteger(kMinStripeCache, kMaxStripeCache, cache.stripe_cache_size);
     }},
}};

// ---- [sync], [member_model] ------------------------------------------------------------------

constexpr std::array<Word<RepairMode>, 2> kRepairModes{
    {{"locate", RepairMode::kLocate}, {"parity", RepairMode::kParity}}};

void ReadSpeed(const Value& value, std::optional<uint64_t>& out) {
  std::optional<uint64_t> bytes;
  value.ReadSize(kKiB, bytes);  // bare numbers are KiB, as in md's sync_speed_min
  if (bytes.has_value() && *bytes == 0) {
    value.AddError("must be more than 0");
  } else if (bytes.has_value()) {
    out = bytes;
  }
}

constexpr std::array<KeyRule<SyncConfig>, 4> kSyncKeys{{
    {"speed_min",
     [](const Value& value, SyncConfig& sync) { ReadSpeed(value, sync.speed_min_bytes); }},
    {"speed_max",
     [](const Value& value, SyncConfig& sync) { ReadSpeed(value, sync.speed_max_bytes); }},
    {"checkpoint_interval",
     [](const Value& value, SyncConfig& sync) {
       value.ReadDuration(kDayMs, sync.checkpoint_interval_ms);
     }},
    {"repair", [](const Value& value,
                  SyncConfig& sync) { value.ReadWord<RepairMode>(kRepairModes, sync.repair); }},
}};

void CheckSync(const Value& section, const toml::table& table, const SyncConfig& sync) {
  if (sync.speed_min_bytes > sync.speed_max_bytes && sync.speed_max_bytes.has_value()) {
    section.document().AddError(table.get("speed_min")->source(),
                                "sync.speed_min: is above speed_max: lower it, or raise speed_max");
  }
}

constexpr std::array<Word<MemberModelKind>, 4> kModelKinds{{{"hdd", MemberModelKind::kHdd},
                                                            {"ssd", MemberModelKind::kSsd},
                                                            {"nvme", MemberModelKind::kNvme},
                                                            {"none", MemberModelKind::kNone}}};

constexpr std::array<KeyRule<MemberModelConfig>, 5> kMemberModelKeys{{
    {"kind",
     [](const Value& value, MemberModelConfig& model) {
       value.ReadWord<MemberModelKind>(kModelKinds, model.kind);
     }},
    {"latency_us",
     [](const Value& value, MemberModelConfig& model) {
       value.ReadInteger(0, kMaxModelUs, model.latency_us);
     }},
    {"seek_us", [](const Value& value,
                   MemberModelConfig& model) { value.ReadInteger(0, kMaxModelUs, model.seek_us); }},
    {"bandwidth",
     [](const Value& value, MemberModelConfig& model) { ReadSpeed(value, model.bandwidth_bytes); }},
    {"parallelism",
     [](const Value& value, MemberModelConfig& model) {
       value.ReadInteger(1, kMaxParallelism, model.parallelism);
     }},
}};

void CheckMemberModel(const Value& section, const toml::table& table,
                      const MemberModelConfig& model) {
  if (model.kind.has_value() && table.size() > 1) {
    section.document().AddError(
        table.get("kind")->source(),
        "member_model.kind: stands for a whole model: leave it out to give numbers of your own");
  }
}

constexpr std::array<KeyRule<Config>, 8> kSections{{
    {"array",
     [](const Value& value, Config& config) { ReadTable(value, kArrayKeys, config.array); }},
    {"volume",
     [](const Value& value, Config& config) { ReadTable(value, kVolumeKeys, config.volume); }},
    {"io", [](const Value& value, Config& config) { ReadTable(value, kIoKeys, config.io); }},
    {"cache",
     [](const Value& value, Config& config) { ReadTable(value, kCacheKeys, config.cache); }},
    {"policy", [](const Value& value, Config& config) { ReadPolicy(value, config.policy); }},
    {"sync", [](const Value& value,
                Config& config) { ReadTable(value, kSyncKeys, config.sync, CheckSync); }},
    {"member_model",
     [](const Value& value, Config& config) {
       ReadTable(value, kMemberModelKeys, config.member_model, CheckMemberModel);
     }},
    {"fault", [](const Value& value, Config& config) { ReadFaults(value, config); }},
}};

}  // namespace

void ReadDocument(const toml::table& root, Document& document, Config& config) {
  ReadKeys<Config>(root, "", kSections, config, document);
}

std::vector<std::string> AllKeys() {
  std::vector<std::string> keys;
  AddKeys("array", kArrayKeys, keys);
  AddKeys("volume", kVolumeKeys, keys);
  AddKeys("io", kIoKeys, keys);
  AddKeys("cache", kCacheKeys, keys);
  AddPolicyKeys(keys);
  AddKeys("sync", kSyncKeys, keys);
  AddKeys("member_model", kMemberModelKeys, keys);
  AddFaultKeys(keys);
  return keys;
}

}  // namespace mdvol::config_internal
