// See enumeration.h.
//
// Rounds: all scenarios are recorded with a seed of the round's, and each crash point gets its
// share of the states that are still wanted. Many points have fewer states than that, so another
// round follows, of other histories. Points are shared out among threads one by one.

#include "tests/crash/enumeration.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/status.h"
#include "tests/crash/crash_point.h"
#include "tests/crash/log_edits.h"
#include "tests/crash/state_checker.h"
#include "tests/crash/state_dump.h"

namespace mdvol::crash {
namespace {

constexpr size_t kMostExamples = 10;
constexpr uint64_t kMostStatesOfAPoint = 4096;

uint64_t Mix(uint64_t a, uint64_t b) {
  const uint64_t sum = (a ^ (b * 0x9e3779b97f4a7c15)) * 0xff51afd7ed558ccd;
  return sum ^ (sum >> 29);
}

// What all threads know.
class Ledger {
 public:
  // Whether this state is to be checked: nobody has, or other things were promised then.
  bool Take(uint64_t state, uint64_t promises) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    states_.insert(state);
    return checked_.insert(Mix(state, promises)).second;
  }

  void Note(const std::string& violation) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    ++result_.violations;
    if (result_.examples.size() < kMostExamples) {
      result_.examples.push_back(violation);
    }
  }

  void CountRun(uint64_t points) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    ++result_.runs;
    result_.points += points;
  }

  EnumerationResult result() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    EnumerationResult result = result_;
    result.states = states_.size();
    return result;
  }

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_set<uint64_t> states_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> checked_ ABSL_GUARDED_BY(mutex_);
  EnumerationResult result_ ABSL_GUARDED_BY(mutex_);
};

// One run and where to crash in it.
struct Job {
  RecordedRun run;
  uint64_t seed = 0;
  std::vector<size_t> times;
};

// The members that may be lost with the power: none, or each in turn.
std::vector<std::optional<size_t>> Losses(const RecordedRun& run, Guard guard) {
  std::vector<std::optional<size_t>> losses = {std::nullopt};
  for (size_t disk = 0; LosesAMember(guard) && disk < run.spec.raid_disks; ++disk) {
    losses.emplace_back(disk);
  }
  return losses;
}

void CrashAt(const Job& job, size_t time, size_t bound, Guard guard, Ledger* ledger) {
  CrashPoint point(job.run, time, bound, job.seed);
  const AllowedContent allowed = job.run.model.At(time);
  uint64_t promises = Mix(allowed.window().first, allowed.window().second);
  for (const uint64_t stripe : point.pending_stripes()) {
    promises = Mix(promises, stripe);
  }
  for (const std::optional<size_t>& lost : Losses(job.run, guard)) {
    for (size_t index = 0; index < point.count(); ++index) {
      point.Choose(index);
      const uint64_t loss = lost.has_value() ? *lost + 1 : 0;
      if (!ledger->Take(point.StateHash(), Mix(promises, loss))) {
        continue;
      }
      const StateVerdict verdict =
          CheckState({job.run, allowed, point.pending_stripes(), lost}, point.images());
      if (!verdict.violation.empty()) {
        ledger->Note(absl::StrCat(job.run.scenario, ", seed ", job.seed, ", crash at ", time,
                                  " of ", job.run.log.size(), ", state ", index, " of ",
                                  point.count(), ": ", verdict.violation));
      }
    }
  }
}

void CrashEverywhere(const Job& job, size_t bound, const EnumerationOptions& options,
                     Ledger* ledger) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < job.times.size(); i = next++) {
      CrashAt(job, job.times[i], bound, options.guard, ledger);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < options.threads; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

absl::StatusOr<std::vector<Job>> RecordAll(const EnumerationOptions& options, uint64_t seed) {
  std::vector<Job> jobs;
  for (const Scenario* scenario : options.scenarios) {
    auto run = RecordFor(*scenario, options.guard, options.plant, seed);
    if (!run.ok()) {
      return Annotate(run.status(), std::string(scenario->name));
    }
    Job job{.run = *std::move(run), .seed = seed, .times = {}};
    job.times = CrashTimes(job.run);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

absl::StatusOr<RecordedRun> RecordFor(const Scenario& scenario, Guard guard, Plant plant,
                                      uint64_t seed) {
  MDVOL_ASSIGN_OR_RETURN(RecordedRun run, Record(scenario, seed));
  RecordedWrites writes{run.areas, &run.log, std::move(run.writes)};
  if (SuppressesMarks(guard)) {
    SuppressMarks(&writes);
  }
  if (plant == Plant::kEarlyBitClear) {
    PlantEarlyBitClear(&writes);
  } else if (plant == Plant::kLateSuperblock) {
    PlantLateSuperblock(&writes);
  }
  run.writes = std::move(writes.writes);
  return run;
}

absl::StatusOr<EnumerationResult> Enumerate(const EnumerationOptions& options) {
  Ledger ledger;
  if (!options.dump_folder.empty()) {
    MDVOL_RETURN_IF_ERROR(DumpStates(options, [&](const DumpedState& dumped) {
      ledger.Take(dumped.state_hash, dumped.state_hash);
      if (!dumped.violation.empty()) {
        ledger.Note(dumped.violation);
      }
    }));
  }
  uint64_t before = 0;
  for (uint64_t round = 0; ledger.result().states < options.states; ++round) {
    MDVOL_ASSIGN_OR_RETURN(const std::vector<Job> jobs, RecordAll(options, options.seed + round));
    uint64_t points = 0;
    for (const Job& job : jobs) {
      points += job.times.size();
    }
    const uint64_t left = options.states - ledger.result().states;
    const size_t bound = std::clamp<uint64_t>(left / points, 2, kMostStatesOfAPoint);
    for (const Job& job : jobs) {
      // The first round sees every scenario.
      if (round == 0 || ledger.result().states < options.states) {
        CrashEverywhere(job, bound, options, &ledger);
        ledger.CountRun(job.times.size());
      }
    }
    if (ledger.result().states == before) {
      break;  // there are no more
    }
    before = ledger.result().states;
  }
  return ledger.result();
}

}  // namespace mdvol::crash
