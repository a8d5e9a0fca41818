// `mdvol examine`: what each member says of itself, and, of several, whether they make an array.
// Opens without a lock and reads only, so that members of a running array can be looked at; what is
// shown then may be a moment old.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/array/member_loader.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "core/device/file_device.h"
#include "core/metadata/assembly.h"
#include "fuse/cli/examine_text.h"
#include "fuse/cli/member_paths.h"
#include "fuse/cli/verbs.h"

namespace mdvol {
namespace {

using Json = nlohmann::ordered_json;

struct ExamineOptions {
  bool json = false;
  std::vector<std::string> members;
};

// What came of looking at the members, in their order.
struct Examined {
  std::vector<ExaminedMember> members;
  std::vector<MemberReport> reports;  // of those that can take part in a decision
  std::vector<absl::Status> errors;   // with the path in them
};

absl::StatusOr<std::unique_ptr<MemberDevice>> OpenToLook(const std::string& path) {
  return OpenFileDevice(path, {.read_only = true, .direct = false, .lock = false});
}

// Everything that can be told of one member. A superblock that is whole is shown even when the rest
// of the member is not; `status` then says what is wrong.
absl::Status ExamineOne(const std::string& path, Examined& examined) {
  MDVOL_ASSIGN_OR_RETURN(const auto device, OpenToLook(path));
  MDVOL_ASSIGN_OR_RETURN(FoundSuperblock found, FindSuperblock(*device));
  ExaminedMember& member = examined.members.emplace_back();
  member = {path, device->size_bytes() / kSectorBytes, found, std::nullopt};
  if (!CheckSuperblockSupported(found.super).ok()) {
    return absl::OkStatus();  // Another level: nothing is wrong with it.
  }
  auto areas = LoadAreas(*device, found.super);
  if (!areas.ok()) {
    return Annotate(areas.status(), path);
  }
  examined.reports.push_back(
      {path, member.device_sectors, found.minor, found.super, areas->bitmap});
  member.areas = *std::move(areas);
  return absl::OkStatus();
}

void PrintText(const Examined& examined, const AssemblyDecision* decision, std::ostream& out) {
  for (const ExaminedMember& member : examined.members) {
    out << RenderExamine(member);
  }
  if (decision != nullptr) {
    out << '\n' << RenderDecision(examined.reports, *decision);
  }
}

void PrintJson(const Examined& examined, const AssemblyDecision* decision, std::ostream& out) {
  Json members = Json::array();
  for (const ExaminedMember& member : examined.members) {
    members.push_back(ExamineJson(member));
  }
  Json errors = Json::array();
  for (const absl::Status& error : examined.errors) {
    errors.push_back(MessageOf(error));
  }
  const Json all{{"members", members},
                 {"errors", errors},
                 {"decision",
                  decision == nullptr ? Json(nullptr) : DecisionJson(examined.reports, *decision)}};
  // Names come from disk and need not be UTF-8.
  out << all.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) << '\n';
}

absl::Status RunExamine(const ExamineOptions& options, VerbContext& context) {
  MDVOL_RETURN_IF_ERROR(CheckDistinctFiles(options.members));
  Examined examined;
  for (const std::string& path : options.members) {
    if (path == kMissingWord) {
      continue;
    }
    if (absl::Status status = ExamineOne(path, examined); !status.ok()) {
      examined.errors.push_back(std::move(status));
    }
  }
  std::unique_ptr<AssemblyDecision> decision;
  if (options.members.size() > 1 && !examined.reports.empty()) {
    decision = std::make_unique<AssemblyDecision>(DecideAssembly(examined.reports, {}));
  }
  if (options.json) {
    PrintJson(examined, decision.get(), context.out);
  } else {
    PrintText(examined, decision.get(), context.out);
  }
  if (examined.errors.size() > 1) {
    return ErrnoStatus(ErrnoOf(examined.errors.front()),
                       absl::StrCat(MessageOf(examined.errors.front()), " (and ",
                                    examined.errors.size() - 1, " more: examine them one by one)"));
  }
  return examined.errors.empty() ? absl::OkStatus() : examined.errors.front();
}

}  // namespace

void AddExamine(CLI::App& app, VerbContext& context) {
  auto options = std::make_shared<ExamineOptions>();
  CLI::App* const verb = app.add_subcommand(
      "examine", "Shows what members say of themselves; of several, whether they make an array");
  verb->add_flag("--json", options->json, "Machine-readable");
  verb->add_option("MEMBER", options->members, "Image files or block devices")
      ->required()
      ->type_name("");
  verb->callback([options, &context] {
    context.run = [options, &context] { return RunExamine(*options, context); };
  });
}

}  // namespace mdvol
