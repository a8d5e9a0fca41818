// See assembly.h. The steps are in assembly_*.cc.

#include "core/metadata/assembly.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/metadata/assembly_work.h"

namespace mdvol {

AssemblyDecision DecideAssembly(const std::vector<MemberReport>& reports,
                                const AssemblyOptions& options) {
  assembly::Work work(reports, options);
  if (reports.empty()) {
    work.Refuse(UsageError("no members were given"));
    return std::move(work.decision);
  }
  work.decision.reference = work.decision.freshest = work.best_first.front();
  FindArray(work);
  FindFreshest(work);
  if (!work.freshest.has_value()) {
    JudgeWithoutArray(work);
    return std::move(work.decision);
  }
  if (const absl::Status status = CheckSuperblockSupported(work.super(*work.freshest));
      !status.ok()) {
    work.Refuse(Annotate(status, work.path(*work.freshest)));
    JudgeWithoutArray(work);
    return std::move(work.decision);
  }
  JudgeMembers(work);
  FillSlots(work);
  const std::vector<size_t> forceable = ChooseForced(work);
  if (options.force) {
    TakeForced(work, forceable);
  }
  LeaveOutTwins(work);
  DecideRun(work, forceable);
  return std::move(work.decision);
}

}  // namespace mdvol
