// `mdvol create`: makes an array of images and devices. Looks at everything first, then decides
// (core/metadata/create_plan.h), then writes (core/array/create.h). Nothing is written when
// anything is refused, and images that were made here are removed again when a later step fails.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/array/create.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/file_device.h"
#include "fuse/cli/create_options.h"
#include "fuse/cli/member_paths.h"
#include "fuse/cli/verbs.h"
#include "fuse/member_place.h"

namespace mdvol {
namespace {

using Devices = std::vector<std::unique_ptr<MemberDevice>>;

// That a member can be read is of no use here, and not said.
absl::StatusOr<std::unique_ptr<MemberDevice>> OpenToWrite(const std::string& path) {
  absl::StatusOr<std::unique_ptr<MemberDevice>> device = OpenFileDevice(path, {});
  const int error = ErrnoOf(device.status());
  if (error == EACCES || error == EPERM || error == EROFS) {
    return SystemError(error, path + ": cannot be opened for writing");
  }
  return device;
}

// Opens, and so locks, the members that exist; null for the others. Their sizes go into `request`.
absl::StatusOr<Devices> OpenExisting(CreateRequest& request, bool force) {
  Devices devices;
  for (CreateMember& member : request.members) {
    std::unique_ptr<MemberDevice>& device = devices.emplace_back();
    if (member.missing) {
      continue;
    }
    if (const auto identity = IdentifyFile(member.path); !identity.ok()) {
      if (ErrnoOf(identity.status()) == ENOENT) {
        continue;  // An image to be made.
      }
      return identity.status();
    }
    MDVOL_ASSIGN_OR_RETURN(device, OpenToWrite(member.path));
    member.exists = true;
    member.device_bytes = device->size_bytes();
    MDVOL_ASSIGN_OR_RETURN(const std::string signature, FindSignature(*device));
    if (!signature.empty() && !force) {
      return ErrnoStatus(EEXIST, absl::StrCat(member.path, ": carries ", signature,
                                              ": give --force to overwrite"));
    }
  }
  return devices;
}

absl::Status DrawUuids(const CreateOptions& options, CreateRequest& request) {
  if (options.uuid.empty()) {
    MDVOL_ASSIGN_OR_RETURN(request.array_uuid, RandomUuid());
  }
  for (size_t i = 0; i < request.members.size(); ++i) {
    MDVOL_ASSIGN_OR_RETURN(Uuid uuid, RandomUuid());
    request.device_uuids.push_back(uuid);
  }
  return absl::OkStatus();
}

// Signals that would end us wait until images that are of no use are gone again.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&signals_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  // EINTR when one has come that is not ignored.
  absl::Status Check() const {
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      if (sigismember(&pending, signal) == 1) {
        return ErrnoStatus(EINTR, "interrupted: nothing was created");
      }
    }
    return absl::OkStatus();
  }

 private:
  sigset_t signals_;
  sigset_t before_;
};

// Makes the images that are still null in `devices`; `made` gets their paths as they come into
// being.
absl::Status MakeImages(const CreateRequest& request, const CreatePlan& plan, Devices& devices,
                        const SignalsHeld& signals, std::vector<std::string>& made) {
  for (size_t i = 0; i < devices.size(); ++i) {
    MDVOL_RETURN_IF_ERROR(signals.Check());
    if (plan.members[i].present && devices[i] == nullptr) {
      MDVOL_ASSIGN_OR_RETURN(devices[i],
                             CreateImage(request.members[i].path, plan.members[i].device_bytes));
      made.push_back(request.members[i].path);
    }
  }
  return absl::OkStatus();
}

// So that a full file system cannot stop an update of the metadata later (I13).
absl::Status AllocateMetadata(const CreateRequest& request, const CreatePlan& plan) {
  for (size_t i = 0; i < plan.members.size(); ++i) {
    if (!plan.members[i].present) {
      continue;
    }
    const MemberAreas& areas = plan.members[i].areas;
    for (const ByteRange& area : {areas.super, areas.bitmap, areas.bad_blocks}) {
      MDVOL_RETURN_IF_ERROR(AllocateRange(request.members[i].path, area.begin, area.size()));
    }
  }
  return absl::OkStatus();
}

std::string Summary(const CreateRequest& request, const CreatePlan& plan) {
  uint32_t missing = 0;
  for (const CreateMember& member : request.members) {
    missing += member.missing ? 1 : 0;
  }
  std::string text = absl::StrCat(
      "mdvol: array ", FormatUuidColons(request.array_uuid), " created: raid6, ",
      request.raid_disks, " members",
      request.spares != 0
          ? absl::StrCat(", ", request.spares, request.spares == 1 ? " spare" : " spares")
          : "",
      ", chunk ", FormatSize(request.chunk_bytes), ", volume of ", plan.volume_bytes, " bytes");
  if (missing != 0) {
    absl::StrAppend(&text, ", degraded by ", missing);
  }
  absl::StrAppend(&text, plan.clean ? ", clean" : ", initial resync due", "\n");
  return text;
}

// What is wrong with the request whichever members there are. Told before any is looked at.
absl::Status CheckUsage(CreateRequest request) {
  for (CreateMember& member : request.members) {
    member.exists = false;
  }
  if (!request.size_bytes.has_value()) {
    request.size_bytes = kGiB;
    request.bitmap = false;  // Whether one fits depends on the size.
  }
  const absl::Status status = PlanCreate(request).status();
  return IsUsageError(status) ? status : absl::OkStatus();
}

absl::Status RunCreate(const CreateOptions& options, VerbContext& context) {
  MDVOL_ASSIGN_OR_RETURN(CreateRequest request, ParseCreateOptions(options));
  MDVOL_RETURN_IF_ERROR(DrawUuids(options, request));
  MDVOL_RETURN_IF_ERROR(CheckUsage(request));
  for (const std::string& member : options.members) {
    MDVOL_RETURN_IF_ERROR(member == kMissingWord ? absl::OkStatus() : CheckMemberPlace(member));
  }
  MDVOL_RETURN_IF_ERROR(CheckDistinctFiles(options.members));
  MDVOL_ASSIGN_OR_RETURN(Devices devices, OpenExisting(request, options.force));
  request.wall_us = SystemClock().WallUs();
  MDVOL_ASSIGN_OR_RETURN(const CreatePlan plan, PlanCreate(request));

  const SignalsHeld signals;
  std::vector<std::string> made;
  absl::Cleanup remove_made = [&made] {
    for (const std::string& path : made) {
      ::unlink(path.c_str());
    }
  };
  MDVOL_RETURN_IF_ERROR(MakeImages(request, plan, devices, signals, made));
  MDVOL_RETURN_IF_ERROR(AllocateMetadata(request, plan));
  MDVOL_RETURN_IF_ERROR(signals.Check());
  if (const absl::Status status = WriteCreatePlan(plan, devices); !status.ok()) {
    return NameTouchedMembers(status, request);
  }
  std::move(remove_made).Cancel();
  context.out << Summary(request, plan) << std::flush;
  if (!context.out) {
    return ErrnoStatus(EIO, "the array " + FormatUuidColons(request.array_uuid) +
                                " was created, but standard output could not be written");
  }
  return absl::OkStatus();
}

}  // namespace

void AddCreate(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<CreateOptions>();
  CLI::App* const verb = app.add_subcommand(
      "create", "Makes an array of image files (created as needed) or block devices");
  verb->footer(
      "Sizes take K M G T (powers of 1024); bare numbers are KiB.\n"
      "An array of new images starts clean; existing members get an initial resync.");
  verb->add_option("-l,--level", options->level, "6 or raid6, which is all there is")
      ->type_name("6");
  verb->add_option("-n,--raid-devices", options->raid_devices,
                   "Members without the spares (default: all that are named)")
      ->type_name("N");
  verb->add_option("-c,--chunk", options->chunk, "Chunk size (default: 512K)")->type_name("SIZE");
  verb->add_option("-p,--layout,--parity", options->layout,
                   "mdadm's name or number of a RAID6 layout (default: left-symmetric)")
      ->type_name("LAYOUT");
  verb->add_option("-e,--metadata", options->metadata, "1.0, 1.1 or 1.2 (default: 1.2)")
      ->type_name("VERSION");
  verb->add_option("-z,--size", options->size,
                   "Data space used on each member (default: what the smallest has)")
      ->type_name("SIZE");
  verb->add_option("--data-offset", options->data_offset,
                   "Where the data starts on each member (default: 1M; 1.0: 0)")
      ->type_name("SIZE");
  verb->add_option("-N,--name", options->name, "Name of the array, at most 32 bytes")
      ->type_name("NAME");
  verb->add_option("-u,--uuid", options->uuid, "Uuid of the array (default: random)")
      ->type_name("UUID");
  verb->add_option("-b,--bitmap", options->bitmap,
                   "internal or none: the write-intent bitmap (default: internal)")
      ->type_name("KIND");
  verb->add_option("--bitmap-chunk", options->bitmap_chunk,
                   "What one bit of the bitmap covers of each member (default: 64M or more)")
      ->type_name("SIZE");
  verb->add_option("-x,--spare-devices", options->spare_devices,
                   "How many of the members, the last ones, are spares (default: 0)")
      ->type_name("K");
  verb->add_flag("--assume-clean", options->assume_clean,
                 "The members' parity is right already: no initial resync");
  verb->add_flag("-f,--force", options->force, "Overwrite members that carry metadata or data");
  verb->add_option("MEMBER", options->members,
                   "Image files, block devices, or the word missing; the slots in this order")
      ->required()
      ->type_name("");
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunCreate(*options, context); };
  });
}

}  // namespace mdvol
