// See create.h.

#include "core/array/create.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>

#include "core/array/member_io.h"
#include "core/array/signatures.h"
#include "core/base/check.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

bool MayWipe(const FoundSignature& signature, const PlannedMember& member, bool clean) {
  if (member.journal) {
    return true;  // a new log holds nothing that counts
  }
  const ByteRange& data = member.areas.data;
  const bool is_in_data = signature.magic.begin < data.end && data.begin < signature.magic.end;
  return !is_in_data || (!clean && signature.what.starts_with("md metadata"));
}

absl::Status WipeSignatures(MemberDevice& device, const PlannedMember& member, bool clean) {
  MDVOL_ASSIGN_OR_RETURN(const auto signatures, FindSignatures(device));
  for (const FoundSignature& signature : signatures) {
    if (MayWipe(signature, member, clean)) {
      const std::vector<uint8_t> zeroes(signature.magic.size());
      MDVOL_RETURN_IF_ERROR(WriteAnywhere(device, signature.magic.begin, zeroes));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteBeforeSuperblock(MemberDevice& device, const PlannedMember& member,
                                   const CreatePlan& plan) {
  MDVOL_RETURN_IF_ERROR(WipeSignatures(device, member, plan.clean));
  const std::vector<uint8_t> empty_log(member.areas.bad_blocks.size(), 0xff);
  MDVOL_RETURN_IF_ERROR(WriteAnywhere(device, member.areas.bad_blocks.begin, empty_log));
  if (plan.bitmap.has_value()) {
    const auto bitmap = SerializeBitmap(*plan.bitmap, plan.bitmap_bits, member.areas.bitmap.size());
    MDVOL_RETURN_IF_ERROR(WriteAnywhere(device, member.areas.bitmap.begin, bitmap));
  }
  if (member.journal) {
    const std::span<const uint8_t> head(reinterpret_cast<const uint8_t*>(plan.journal_head->data()),
                                        plan.journal_head->size());
    MDVOL_RETURN_IF_ERROR(WriteAnywhere(device, member.areas.data.begin, head));
  }
  return FlushMember(device);
}

absl::Status WriteSuperblock(MemberDevice& device, const PlannedMember& member) {
  const std::span<const uint8_t> whole(reinterpret_cast<const uint8_t*>(&member.super),
                                       sizeof(member.super));
  const auto bytes = whole.first(std::min<uint64_t>(whole.size(), member.areas.super.size()));
  MDVOL_RETURN_IF_ERROR(WriteAnywhere(device, member.areas.super.begin, bytes));
  return FlushMember(device);
}

}  // namespace

absl::StatusOr<std::string> FindSignature(MemberDevice& device) {
  MDVOL_ASSIGN_OR_RETURN(const auto signatures, FindSignatures(device));
  std::string phrase;
  std::set<std::string> seen;
  for (const FoundSignature& signature : signatures) {
    if (seen.insert(signature.what).second) {
      phrase += phrase.empty() ? "" : " and ";
      phrase += signature.what;
    }
  }
  return phrase;
}

absl::Status WriteCreatePlan(const CreatePlan& plan,
                             const std::vector<std::unique_ptr<MemberDevice>>& devices) {
  MDVOL_CHECK(devices.size() == plan.members.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    MDVOL_CHECK((devices[i] != nullptr) == plan.members[i].present);
    if (devices[i] != nullptr) {
      MDVOL_RETURN_IF_ERROR(WriteBeforeSuperblock(*devices[i], plan.members[i], plan));
    }
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] != nullptr) {
      MDVOL_RETURN_IF_ERROR(WriteSuperblock(*devices[i], plan.members[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace mdvol
