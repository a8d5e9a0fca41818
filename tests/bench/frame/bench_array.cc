// See bench_array.h.

#include "tests/bench/frame/bench_array.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/array/admission.h"
#include "core/array/create.h"
#include "core/array/member_loader.h"
#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/device/counting_device.h"
#include "core/device/memory_device.h"
#include "core/device/modelled_device.h"
#include "core/device/shared_device.h"
#include "core/metadata/create_plan.h"
#include "core/policy/policy_set.h"
#include "policies/registry.h"
#include "policies/selection.h"
#include "tests/support/seed.h"

namespace mdvol::bench {
namespace {

constexpr uint64_t kNoSpeedLimit = kTiB;  // per second
constexpr uint64_t kFillBytes = kMiB;

CreateRequest RequestOf(const BenchArraySpec& spec) {
  CreateRequest request;
  for (uint32_t i = 0; i < spec.members; ++i) {
    request.members.push_back({.path = absl::StrCat("/bench/d", i)});
    request.device_uuids.emplace_back().bytes.fill(static_cast<uint8_t>(i + 1));
  }
  request.raid_disks = spec.members;
  request.chunk_bytes = spec.chunk_bytes;
  request.size_bytes = spec.member_bytes;
  request.name = "bench";
  request.array_uuid.bytes.fill(0xbe);
  request.bitmap = spec.bitmap;
  request.assume_clean = true;  // zeroes everywhere: P and Q of them are zeroes
  request.wall_us = SystemClock().WallUs();
  return request;
}

class BenchArrayImpl final : public BenchArray {
 public:
  BenchArrayImpl(const BenchArraySpec& spec, CreatePlan plan)
      : spec_(spec), plan_(std::move(plan)), events_(clock_) {}
  ~BenchArrayImpl() override { Close().IgnoreError(); }

  absl::Status MakeMembers();

  absl::Status Open(const std::vector<uint32_t>& missing) override;
  absl::Status Close() override;

  Array& array() override { return *array_; }
  SyncEngine& sync() override { return *sync_; }
  const BenchArraySpec& spec() const override { return spec_; }

  absl::Status Switch(const PolicyChoice& choice) override;
  absl::Status FailMember(uint32_t slot) override;
  absl::Status StartSync(SyncAction action) override { return sync_->SetAction(action); }
  absl::Status StopSync() override { return sync_->SetAction(SyncAction::kIdle); }

  MemberTally Counts(uint32_t slot) const override { return tallies_[slot]->Counts(); }
  uint32_t live_members() const override { return live_members_; }
  uint64_t MostWritesAtOnce() const override;
  void ResetMostWritesAtOnce() override;

 private:
  const BenchArraySpec spec_;
  const CreatePlan plan_;
  Clock& clock_ = SystemClock();
  EventLog events_;
  std::vector<std::shared_ptr<MemberDevice>> disks_;  // with their tallies and models
  std::vector<TallyDevice*> tallies_;                 // in disks_
  const Registry registry_;
  PolicySet policies_;
  PolicySelection selection_{registry_, policies_};
  std::unique_ptr<Array> array_;
  std::unique_ptr<SyncEngine> sync_;
  uint32_t live_members_ = 0;
};

// Metadata are written below the model, so that making many slow members takes no time.
absl::Status BenchArrayImpl::MakeMembers() {
  std::vector<std::shared_ptr<MemberDevice>> memories;
  std::vector<std::unique_ptr<MemberDevice>> handles;
  for (size_t i = 0; i < plan_.members.size(); ++i) {
    memories.push_back(NewMemoryDevice(absl::StrCat("/bench/d", i), plan_.members[i].device_bytes));
    handles.push_back(std::make_unique<SharedDevice>(memories.back()));
  }
  MDVOL_RETURN_IF_ERROR(WriteCreatePlan(plan_, handles));
  for (size_t i = 0; i < handles.size(); ++i) {
    std::unique_ptr<MemberDevice> device = std::move(handles[i]);
    if (spec_.model.has_value()) {
      device = NewModelledDevice(std::move(device), *spec_.model, clock_);
    }
    auto tally = NewTallyDevice(std::move(device), plan_.members[i].areas.data);
    tallies_.push_back(tally.get());
    disks_.push_back(std::move(tally));
  }
  for (const PolicyChoice& choice : spec_.policies) {
    MDVOL_RETURN_IF_ERROR(Switch(choice));
  }
  return absl::OkStatus();
}

absl::Status BenchArrayImpl::Open(const std::vector<uint32_t>& missing) {
  MDVOL_CHECK(array_ == nullptr);
  std::vector<LoadedMember> members;
  for (uint32_t slot = 0; slot < spec_.members; ++slot) {
    if (std::find(missing.begin(), missing.end(), slot) != missing.end()) {
      continue;
    }
    std::unique_ptr<CountingDevice> device =
        NewCountingDevice(std::make_unique<SharedDevice>(disks_[slot]), clock_);
    if (spec_.write_admission) {
      device = NewAdmittedDevice(std::move(device), policies_.write_admission, clock_);
    }
    MDVOL_ASSIGN_OR_RETURN(LoadedMember member, LoadMember(std::move(device)));
    members.push_back(std::move(member));
  }
  live_members_ = static_cast<uint32_t>(members.size());
  ArrayOptions options;
  options.assembly.run = true;
  options.policies = &policies_;
  MDVOL_ASSIGN_OR_RETURN(array_, Array::Start(std::move(members), options, clock_, events_));
  array_->StartMaintenance();
  SyncOptions sync_options;
  sync_options.speed_max_bytes = kNoSpeedLimit;
  sync_ =
      std::make_unique<SyncEngine>(*array_, policies_.resync_pacing, clock_, events_, sync_options);
  sync_->Start();
  return absl::OkStatus();
}

absl::Status BenchArrayImpl::Close() {
  if (array_ == nullptr) {
    return absl::OkStatus();
  }
  sync_->Stop();
  const absl::Status status = array_->Stop();
  sync_.reset();
  array_.reset();
  live_members_ = 0;
  return status;
}

absl::Status BenchArrayImpl::Switch(const PolicyChoice& choice) {
  for (const auto& [option, value] : choice.options) {
    MDVOL_RETURN_IF_ERROR(selection_.SetOption(choice.family, choice.name, option, value));
  }
  return selection_.Switch(choice.family, choice.name);
}

absl::Status BenchArrayImpl::FailMember(uint32_t slot) {
  for (const MemberSnapshot& member : array_->Snapshot().members) {
    if (member.slot == slot && !member.faulty) {
      MDVOL_RETURN_IF_ERROR(array_->FailMember(member.index, "taken away by the benchmark"));
      --live_members_;
      return absl::OkStatus();
    }
  }
  return ErrnoStatus(ENODEV, absl::StrCat("slot ", slot, " has no working member"));
}

uint64_t BenchArrayImpl::MostWritesAtOnce() const {
  uint64_t most = 0;
  for (const TallyDevice* tally : tallies_) {
    most = std::max(most, tally->MostWritesAtOnce());
  }
  return most;
}

void BenchArrayImpl::ResetMostWritesAtOnce() {
  for (TallyDevice* tally : tallies_) {
    tally->ResetMostWritesAtOnce();
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<BenchArray>> BenchArray::Make(const BenchArraySpec& spec) {
  MDVOL_ASSIGN_OR_RETURN(CreatePlan plan, PlanCreate(RequestOf(spec)));
  auto array = std::make_unique<BenchArrayImpl>(spec, std::move(plan));
  MDVOL_RETURN_IF_ERROR(array->MakeMembers());
  MDVOL_RETURN_IF_ERROR(array->Open(spec.missing));
  return array;
}

MemberTally BenchArray::Total() const {
  MemberTally total;
  for (uint32_t slot = 0; slot < spec().members; ++slot) {
    total += Counts(slot);
  }
  return total;
}

absl::Status BenchArray::Fill(uint64_t length_bytes, uint64_t seed) {
  testing::Prng prng(seed);
  std::vector<std::byte> bytes(kFillBytes);
  for (uint64_t at = 0; at < length_bytes; at += kFillBytes) {
    prng.Fill(bytes);
    const size_t part_bytes = std::min(kFillBytes, length_bytes - at);
    MDVOL_RETURN_IF_ERROR(array().Write(at, std::span(bytes).first(part_bytes)));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BenchArray::FirstDifference(uint64_t length_bytes, uint64_t seed) {
  testing::Prng prng(seed);
  std::vector<std::byte> expected(kFillBytes);
  std::vector<std::byte> bytes(kFillBytes);
  for (uint64_t at = 0; at < length_bytes; at += kFillBytes) {
    prng.Fill(expected);
    const size_t part_bytes = std::min(kFillBytes, length_bytes - at);
    MDVOL_RETURN_IF_ERROR(array().Read(at, std::span(bytes).first(part_bytes)));
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(part_bytes);
    const auto differs = std::mismatch(bytes.begin(), end, expected.begin()).first;
    if (differs != end) {
      return at + static_cast<uint64_t>(differs - bytes.begin());
    }
  }
  return length_bytes;
}

std::vector<std::string> PolicyNamesOf(PolicyFamily family) {
  std::vector<std::string> names;
  const Registry registry;
  for (const PolicyEntry& entry : registry.Of(family)) {
    names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace mdvol::bench
