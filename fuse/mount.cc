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
#include "core/base/path.h"
#include "core/base/status.h"
#include "core/config/merge.h"
#include "core/device/file_device.h"
#include "core/sync/sync_engine.h"
#include "fuse/control/control_tree.h"
#include "fuse/control/guarded_files.h"
#include "fuse/event_sink.h"
#include "fuse/invalidator.h"
#include "fuse/members.h"
#include "fuse/mount_policies.h"
#include "fuse/mountpoint.h"
#include "fuse/outcome.h"
#include "fuse/session.h"
#include "fuse/startup_guard.h"
#include "fuse/tree.h"
#include "fuse/volume_file.h"
#include "policies/plugin_loader.h"

namespace mdvol {
namespace {

// Under whichever names: a line in the middle of a member would be the end of it.
absl::Status CheckLogIsNoMember(const MountRequest& request) {
  const absl::StatusOr<FileIdentity> log = IdentifyFile(request.log_path);
  if (request.log_path.empty() || !log.ok()) {
    return absl::OkStatus();
  }
  for (const std::string& member : request.config.array.members) {
    const absl::StatusOr<FileIdentity> identity = IdentifyFile(member);
    if (identity.ok() && *identity == *log) {
      return UsageError("--log " + request.log_path + ": is the member " + member +
                        ": name another file");
    }
  }
  return absl::OkStatus();
}

// Should the daemon die of one, the log has its name.
void TellOfPlugins(const Config& config, EventLog& events) {
  for (const std::string& plugin : config.policy.plugins) {
    events.Add(EventLevel::kInfo, "plugin", "", plugin);
  }
}

void WarnOfHidden(const std::string& mountpoint, EventLog& events) {
  std::error_code error;
  if (!std::filesystem::is_empty(mountpoint, error) && !error) {
    events.Add(EventLevel::kWarning, "warning", "",
               mountpoint + ": is not empty: what is in it is hidden until the array is stopped");
  }
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

ArrayOptions StartOptions(const Config& config, const PolicySet& policies) {
  ArrayOptions options;
  options.assembly.force = config.array.force.value_or(false);
  options.assembly.run = config.array.run.value_or(false);
  options.assembly.read_only = config.array.read_only.value_or(false);
  if (config.cache.stripe_cache_size.has_value()) {
    options.stripe_cache_size = static_cast<uint32_t>(*config.cache.stripe_cache_size);
  }
  options.policies = &policies;
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

SyncOptions EngineOptions(const SyncConfig& config, Invalidator& invalidator) {
  SyncOptions options;
  options.speed_min_bytes = config.speed_min_bytes;
  options.speed_max_bytes = config.speed_max_bytes;
  options.checkpoint_interval_ms =
      config.checkpoint_interval_ms.value_or(options.checkpoint_interval_ms);
  options.repair_mode = config.repair.value_or(options.repair_mode);
  options.on_repaired = [&invalidator](uint64_t offset_bytes, uint64_t length_bytes) {
    invalidator.Add(offset_bytes, length_bytes);
  };
  return options;
}

// What a mount is made of besides the array, and the order in which it goes: first nobody starts
// anything by himself any more, then what waits is let go.
class Mount {
 public:
  Mount(const MountRequest& request, Array& array, EventLog& events, MountPolicies& policies,
        const FaultsByPath& faults_by_path, const OutcomeSource& outcome)
      : request_(request),
        array_(array),
        events_(events),
        snapshot_(array.Snapshot()),
        engine_(array, policies.set.resync_pacing, SystemClock(), events,
                EngineOptions(request.config.sync, invalidator_)),
        suspension_(array),
        volume_(array, FileOptions(request.config.volume), SystemClock()),
        control_({array,
                  events,
                  policies.selection,
                  faults_,
                  [this] { return volume_.opener_count(); },
                  {::getpid(), request.version, &policies.selection, outcome.name()},
                  &engine_,
                  &suspension_,
                  [this, &policies](const std::string& path, AddMode mode) {
                    return AddMemberFile(path, mode, request_.config, policies.set, SystemClock(),
                                         array_, faults_);
                  }}),
        guarded_control_(control_, events),
        tree_({request.config.volume.name.value_or(kDefaultVolumeName), ::geteuid(), ::getegid()},
              volume_, &guarded_control_, SystemClock()) {
    FillFaultTable(faults_by_path, snapshot_, faults_);
  }

  ~Mount() { StopHelpers(); }

  // Serves until the mount ends.
  absl::Status Serve(const ReportReady& report_ready) {
    SessionOptions options;
    options.mountpoint = request_.mountpoint;
    options.name = snapshot_.name;
    options.options = request_.options;
    options.max_threads = request_.config.io.threads.value_or(kDefaultThreads);
    options.writeback = request_.config.volume.writeback.value_or(false);
    options.suspension = &suspension_;
    MDVOL_ASSIGN_OR_RETURN(session_, Session::Mount(options, tree_));
    array_.StartMaintenance();
    invalidator_.Start([this](uint64_t offset_bytes, uint64_t length_bytes) {
      session_->InvalidateVolume(offset_bytes, length_bytes);
    });
    engine_.Start();
    events_.Add(EventLevel::kInfo, "mounted", "", request_.mountpoint);
    ShowWarnings(request_, events_);
    MDVOL_RETURN_IF_ERROR(report_ready());
    session_->Run([this] { StopHelpers(); });
    events_.Add(EventLevel::kInfo, "unmounted", "", request_.mountpoint);
    return absl::OkStatus();
  }

 private:
  // What may wait in the kernel for a request of ours to be served, or for a write that is parked.
  // Again and again if need be.
  void StopHelpers() {
    engine_.Stop();
    suspension_.ReleaseAll();
    invalidator_.Stop();
  }

  const MountRequest& request_;
  Array& array_;
  EventLog& events_;
  const ArraySnapshot snapshot_;  // of the start
  FaultTable faults_;
  Invalidator invalidator_;
  SyncEngine engine_;
  Suspension suspension_;
  VolumeFile volume_;
  ControlTree control_;
  GuardedFiles guarded_control_;
  Tree tree_;
  std::unique_ptr<Session> session_;  // the first to go, with all that is still unanswered
};

absl::Status ServeArray(const MountRequest& request, Array& array, EventLog& events,
                        MountPolicies& policies, const FaultsByPath& faults_by_path,
                        const OutcomeSource& outcome, const ReportReady& report_ready) {
  MDVOL_RETURN_IF_ERROR(SetConfiguredFaults(request.config, array.Snapshot(), faults_by_path));
  Mount mount(request, array, events, policies, faults_by_path, outcome);
  return mount.Serve(report_ready);
}

}  // namespace

absl::StatusOr<MountRequest> ResolveMountRequest(MountRequest request) {
  MDVOL_RETURN_IF_ERROR(CheckConfig(request.config));
  for (std::string& plugin : request.config.policy.plugins) {
    plugin = AbsolutePath(plugin);
  }
  MDVOL_RETURN_IF_ERROR(LoadPlugins(request.config.policy.plugins, request.registry));
  MountPolicies policies(request.registry);
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
  MDVOL_RETURN_IF_ERROR(CheckLogIsNoMember(request));
  MDVOL_RETURN_IF_ERROR(CheckHidesNoMember(request.mountpoint, request.config.array.members));
  return request;
}

absl::Status ServeMount(const MountRequest& request, const ReportReady& report_ready) {
  BlockStopSignals();  // Before any thread, the array's own included.
  auto guard = std::make_unique<StartupGuard>();
  EventLog events(SystemClock());
  MDVOL_ASSIGN_OR_RETURN(EventLog::Listener sink, MakeSink(request));
  events.SetListener(std::move(sink));
  sink = EventLog::Listener();
  TellOfPlugins(request.config, events);
  WarnOfHidden(request.mountpoint, events);
  MountPolicies policies(request.registry);
  MDVOL_RETURN_IF_ERROR(SelectPolicies(request.config.policy, policies));

  MDVOL_ASSIGN_OR_RETURN(const std::unique_ptr<OutcomeSource> outcome, OutcomeSource::Listen());

  MDVOL_ASSIGN_OR_RETURN(OpenedMembers opened,
                         OpenMembers(request.config, policies.set, SystemClock()));
  MDVOL_ASSIGN_OR_RETURN(
      const std::unique_ptr<Array> array,
      Array::Start(std::move(opened.members), StartOptions(request.config, policies.set),
                   SystemClock(), events));
  guard.reset();
  const absl::Status served =
      ServeArray(request, *array, events, policies, opened.faults_by_path, *outcome, report_ready);
  const absl::Status stopped = array->Stop();
  if (!stopped.ok()) {
    events.Add(EventLevel::kError, "stop failed", "", MessageOf(stopped));
  }
  outcome->Tell(OutcomeOf(stopped, *array));
  return served.ok() ? stopped : served;
}

}  // namespace mdvol
