// See mount.h.

#include "fuse/mount.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/array/array.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/config/merge.h"
#include "core/sync/start_array.h"
#include "fuse/control/control_tree.h"
#include "fuse/event_sink.h"
#include "fuse/members.h"
#include "fuse/mountpoint.h"
#include "fuse/outcome.h"
#include "fuse/session.h"
#include "fuse/startup_guard.h"
#include "fuse/tree.h"
#include "fuse/volume_file.h"
#include "policies/selection.h"

namespace mdvol {
namespace {

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

absl::Status SelectPolicies(const PolicyConfig& config, PolicySelection& policies) {
  for (const PolicyFamilyInfo& info : kPolicyFamilies) {
    const std::optional<PolicyChoice>& choice = config.choices[IndexOf(info.family)];
    if (choice.has_value()) {
      MDVOL_RETURN_IF_ERROR(Annotate(policies.Switch(info.family, choice->name), choice->where));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<EventLog::Listener> MakeSink(const MountRequest& request) {
  if (!request.log_path.empty()) {
    return FileSink(request.log_path);
  }
  return request.foreground ? StandardErrorSink() : SyslogSink();
}

VolumeFileOptions FileOptions(const VolumeConfig& config) {
  VolumeFileOptions options;
  options.uid = config.uid.value_or(::geteuid());
  options.gid = config.gid.value_or(::getegid());
  options.permissions = config.mode.value_or(kDefaultVolumeMode);
  options.writeback = config.writeback.value_or(false);
  return options;
}

ArrayOptions StartOptions(const ArrayConfig& config) {
  ArrayOptions options;
  options.assembly.force = config.force.value_or(false);
  options.assembly.run = config.run.value_or(false);
  options.assembly.read_only = config.read_only.value_or(false);
  return options;
}

// What the start has warned of, for whoever waits for the mount. In the foreground without a log
// all events are there already.
void ShowWarnings(const MountRequest& request, const EventLog& events) {
  if (request.foreground && request.log_path.empty()) {
    return;
  }
  for (const Event& event : events.All()) {
    if (event.level == EventLevel::kInfo) {
      continue;
    }
    std::string line = "mdvol: ";
    line += event.what;
    line += event.member.empty() ? "" : " " + event.member;
    line += event.why.empty() ? "" : ": " + event.why;
    // A file may be called anything; a warning stays one line.
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
    std::fprintf(stderr, "%s\n", line.c_str());
  }
}

// Mounts the running array and serves it until the mount ends.
absl::Status ServeArray(const MountRequest& request, Array& array, EventLog& events,
                        PolicySelection& policies,
                        const std::map<std::string, FaultDevice*>& faults_by_path,
                        const OutcomeSource& outcome, const ReportReady& report_ready) {
  const ArraySnapshot snapshot = array.Snapshot();
  MDVOL_RETURN_IF_ERROR(SetConfiguredFaults(request.config, snapshot, faults_by_path));

  VolumeFile volume(array, FileOptions(request.config.volume), SystemClock());
  ControlTree control({array,
                       events,
                       policies,
                       FaultsByName(faults_by_path, snapshot),
                       [&volume] { return volume.opener_count(); },
                       {::getpid(), request.version, &policies, outcome.name()}});
  const TreeOptions tree_options{request.config.volume.name.value_or(kDefaultVolumeName),
                                 ::geteuid(), ::getegid()};
  Tree tree(tree_options, volume, &control, SystemClock());

  SessionOptions options;
  options.mountpoint = request.mountpoint;
  options.name = snapshot.name;
  options.options = request.options;
  options.max_threads = request.config.io.threads.value_or(kDefaultThreads);
  options.writeback = request.config.volume.writeback.value_or(false);
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Mount(options, tree));
  array.StartMaintenance();
  events.Add(EventLevel::kInfo, "mounted", "", request.mountpoint);
  ShowWarnings(request, events);
  MDVOL_RETURN_IF_ERROR(report_ready());
  session->Run();
  events.Add(EventLevel::kInfo, "unmounted", "", request.mountpoint);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MountRequest> ResolveMountRequest(MountRequest request) {
  MDVOL_RETURN_IF_ERROR(CheckConfig(request.config));
  PolicySelection policies;
  MDVOL_RETURN_IF_ERROR(SelectPolicies(request.config.policy, policies));
  MDVOL_ASSIGN_OR_RETURN(request.options, CheckMountOptions(request.options, ::geteuid() == 0,
                                                            SystemHasUserAllowOther()));
  MDVOL_ASSIGN_OR_RETURN(request.mountpoint, PrepareMountpoint(request.mountpoint));
  for (std::string& member : request.config.array.members) {
    member = member == "missing" ? member : AbsolutePath(member);
  }
  if (!request.log_path.empty()) {
    request.log_path = AbsolutePath(request.log_path);
  }
  return request;
}

absl::Status ServeMount(const MountRequest& request, const ReportReady& report_ready) {
  BlockStopSignals();  // Before any thread, the array's own included.
  auto guard = std::make_unique<StartupGuard>();
  EventLog events(SystemClock());
  MDVOL_ASSIGN_OR_RETURN(EventLog::Listener sink, MakeSink(request));
  events.SetListener(std::move(sink));
  PolicySelection policies;
  MDVOL_RETURN_IF_ERROR(SelectPolicies(request.config.policy, policies));

  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<OutcomeSource> outcome, OutcomeSource::Listen());

  MDVOL_ASSIGN_OR_RETURN(OpenedMembers opened, OpenMembers(request.config, SystemClock()));
  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<Array> array,
                         StartArray(std::move(opened.members), StartOptions(request.config.array),
                                    SystemClock(), events));
  guard.reset();
  const absl::Status served =
      ServeArray(request, *array, events, policies, opened.faults_by_path, *outcome, report_ready);
  const absl::Status stopped = array->Stop();
  if (!stopped.ok()) {
    events.Add(EventLevel::kError, "stop failed", "", MessageOf(stopped));
  }
  outcome->Tell(stopped);
  return served.ok() ? stopped : served;
}

}  // namespace mdvol
