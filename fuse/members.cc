// See members.h.

#include "fuse/members.h"

#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "core/array/admission.h"
#include "core/base/status.h"
#include "core/device/counting_device.h"
#include "core/device/file_device.h"
#include "core/device/modelled_device.h"
#include "fuse/member_place.h"
#include "fuse/member_word.h"

namespace mdvol {
namespace {

// The same file under two names (links included) is refused before a lock on it would say no more
// than that somebody holds it.
absl::Status CheckGivenOnce(const std::string& path,
                            std::vector<std::pair<FileIdentity, std::string>>& seen) {
  const absl::StatusOr<FileIdentity> identity = IdentifyFile(path);
  if (!identity.ok()) {
    return absl::OkStatus();  // Opening it tells more.
  }
  for (const auto& [other, other_path] : seen) {
    if (other == *identity) {
      return ErrnoStatus(EINVAL,
                         path == other_path
                             ? path + ": given twice"
                             : path + ": given twice: it is the same file as " + other_path);
    }
  }
  seen.emplace_back(*identity, path);
  return absl::OkStatus();
}

FileDeviceOptions DeviceOptions(const Config& config) {
  FileDeviceOptions options;
  options.read_only = config.array.read_only.value_or(false);
  options.direct = config.io.direct.value_or(false);
  return options;
}

// The file or device as the configuration wants it to behave, faults excepted.
absl::StatusOr<std::unique_ptr<MemberDevice>> OpenMemberDevice(const std::string& path,
                                                               const Config& config, Clock& clock) {
  MDVOL_ASSIGN_OR_RETURN(std::unique_ptr<MemberDevice> file,
                         OpenFileDevice(path, DeviceOptions(config)));
  if (const auto model = ModelParameters(config.member_model); model.has_value()) {
    return NewModelledDevice(std::move(file), *model, clock);
  }
  return file;
}

}  // namespace

std::optional<DiskModelParameters> ModelParameters(const MemberModelConfig& config) {
  switch (config.kind.value_or(MemberModelKind::kNone)) {
    case MemberModelKind::kHdd:
      return kHddModel;
    case MemberModelKind::kSsd:
      return kSsdModel;
    case MemberModelKind::kNvme:
      return kNvmeModel;
    case MemberModelKind::kNone:
      break;
  }
  constexpr uint64_t kNsPerUs = 1000;
  DiskModelParameters parameters;
  parameters.latency_ns = config.latency_us.value_or(0) * kNsPerUs;
  parameters.seek_ns = config.seek_us.value_or(0) * kNsPerUs;
  parameters.bandwidth_bytes_per_s = config.bandwidth_bytes.value_or(0);
  parameters.parallelism = config.parallelism.value_or(1);
  const bool takes_time = parameters.latency_ns != 0 || parameters.seek_ns != 0 ||
                          parameters.bandwidth_bytes_per_s != 0;
  return takes_time ? std::optional(parameters) : std::nullopt;
}

absl::StatusOr<OpenedMembers> OpenMembers(const Config& config, const PolicySet& policies,
                                          Clock& clock) {
  OpenedMembers opened;
  std::vector<std::pair<FileIdentity, std::string>> seen;
  for (const std::string& path : config.array.members) {
    if (path == "missing") {
      continue;
    }
    // What is only read from a volume below waits for nobody who waits for this array.
    if (!config.array.read_only.value_or(false)) {
      MDVOL_RETURN_IF_ERROR(CheckMemberPlace(path));
    }
    MDVOL_RETURN_IF_ERROR(CheckGivenOnce(path, seen));
    MDVOL_ASSIGN_OR_RETURN(auto device, OpenMemberDevice(path, config, clock));
    // The seed makes a probability repeatable from mount to mount, and differ from member to
    // member.
    const uint64_t seed = opened.members.size();
    std::shared_ptr<FaultDevice> fault = NewFaultDevice(std::move(device), seed, clock);
    opened.faults_by_path[path] = fault;
    MDVOL_ASSIGN_OR_RETURN(LoadedMember member, LoadMember(ShareFaultDevice(std::move(fault))));
    // On top only now: what was read to load the member is not the array's traffic.
    member.device = NewAdmittedDevice(NewCountingDevice(std::move(member.device), clock),
                                      policies.write_admission, clock);
    opened.members.push_back(std::move(member));
  }
  return opened;
}

void FillFaultTable(const FaultsByPath& faults_by_path, const ArraySnapshot& array,
                    FaultTable& table) {
  for (const MemberSnapshot& member : array.members) {
    const auto found = faults_by_path.find(member.path);
    if (found != faults_by_path.end()) {
      table.Put(member.index, found->second);
    }
  }
}

absl::Status SetConfiguredFaults(const Config& config, const ArraySnapshot& array,
                                 const FaultsByPath& faults_by_path) {
  std::vector<MemberTitles> titles;
  for (const MemberSnapshot& member : array.members) {
    titles.push_back({member.name, member.path, member.slot, std::nullopt});
  }
  for (const FaultConfig& fault : config.faults) {
    const absl::StatusOr<std::optional<size_t>> found =
        FindMemberByWord(titles, fault.member, PathMatch::kText);
    if (!found.ok()) {
      return UsageError(fault.where + ": fault.member: " + MessageOf(found.status()));
    }
    const auto entry =
        found->has_value() ? faults_by_path.find(titles[**found].path) : faults_by_path.end();
    const std::shared_ptr<FaultDevice> device =
        entry == faults_by_path.end() ? nullptr : entry->second.lock();
    if (device == nullptr) {
      return UsageError(fault.where + ": fault.member: the array has no member '" + fault.member +
                        "': give a slot number, a path or a file name");
    }
    device->AddRule(fault.rule);
  }
  return absl::OkStatus();
}

absl::Status AddMemberFile(const std::string& path, AddMode mode, const Config& config,
                           const PolicySet& policies, Clock& clock, Array& array,
                           FaultTable& table) {
  // Before the file is looked at, which this array itself might have to answer.
  MDVOL_RETURN_IF_ERROR(CheckMemberPlace(path));
  MDVOL_ASSIGN_OR_RETURN(auto opened, OpenMemberDevice(path, config, clock));
  const uint64_t seed = array.Snapshot().members.size();
  std::shared_ptr<FaultDevice> fault = NewFaultDevice(std::move(opened), seed, clock);
  // Somebody may have removed the member before it is put into the table.
  const std::weak_ptr<FaultDevice> known = fault;
  auto device = NewAdmittedDevice(NewCountingDevice(ShareFaultDevice(std::move(fault)), clock),
                                  policies.write_admission, clock);
  MDVOL_ASSIGN_OR_RETURN(const size_t index, array.AddMember(std::move(device), mode));
  table.Put(index, known);
  return absl::OkStatus();
}

}  // namespace mdvol
