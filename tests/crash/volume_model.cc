// See volume_model.h.

#include "tests/crash/volume_model.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/units.h"
#include "tests/crash/disk_write.h"

namespace mdvol::crash {

bool AllowedContent::IsAllowedLater(uint64_t offset_bytes, std::span<const std::byte> atom) const {
  const auto found = later_.find(offset_bytes);
  return found != later_.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const auto& bytes) { return std::ranges::equal(bytes, atom); });
}

std::optional<uint64_t> AllowedContent::FirstForbidden(
    std::span<const std::byte> volume, const std::function<bool(uint64_t)>& is_exempt) const {
  MDVOL_CHECK(volume.size() == durable_.size());
  for (uint64_t offset = 0; offset < volume.size(); offset += kAtomBytes) {
    const auto atom = volume.subspan(offset, kAtomBytes);
    const bool is_allowed =
        std::ranges::equal(atom, std::span(durable_).subspan(offset, kAtomBytes)) ||
        IsAllowedLater(offset, atom) || is_exempt(offset);
    if (!is_allowed) {
      return offset;
    }
  }
  return std::nullopt;
}

bool AllowedContent::IsOpen(uint64_t begin_bytes, uint64_t end_bytes) const {
  return std::any_of(later_.begin(), later_.end(), [&](const auto& atom) {
    return begin_bytes <= atom.first && atom.first < end_bytes;
  });
}

VolumeModel::VolumeModel(std::vector<std::byte> initial)
    : initial_(std::move(initial)), newest_(initial_) {
  MDVOL_CHECK(initial_.size() % kAtomBytes == 0);
}

void VolumeModel::Write(uint64_t offset_bytes, std::span<const std::byte> data, size_t begun_at) {
  MDVOL_CHECK(changes_.empty() || changes_.back().begun_at <= begun_at);
  changes_.push_back({offset_bytes, {data.begin(), data.end()}, begun_at});
  std::ranges::copy(data, newest_.begin() + static_cast<ptrdiff_t>(offset_bytes));
}

void VolumeModel::Settle(size_t acknowledged_at) {
  settled_.emplace_back(acknowledged_at, changes_.size());
}

AllowedContent VolumeModel::At(size_t time) const {
  AllowedContent allowed;
  for (const auto& [acknowledged_at, changes] : settled_) {
    if (acknowledged_at <= time) {
      allowed.durable_writes_ = changes;
    }
  }
  std::vector<std::byte> content = initial_;
  for (size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    if (i >= allowed.durable_writes_ && change.begun_at >= time) {
      break;
    }
    if (i == allowed.durable_writes_) {
      allowed.durable_ = content;
    }
    std::ranges::copy(change.data, content.begin() + static_cast<ptrdiff_t>(change.offset_bytes));
    const uint64_t end = change.offset_bytes + change.data.size();
    for (uint64_t atom = RoundDown(change.offset_bytes, kAtomBytes);
         i >= allowed.durable_writes_ && atom < end; atom += kAtomBytes) {
      const auto begin = content.begin() + static_cast<ptrdiff_t>(atom);
      allowed.later_[atom].emplace_back(begin, begin + kAtomBytes);
    }
    allowed.begun_writes_ = i + 1;
  }
  if (allowed.durable_.empty()) {
    allowed.durable_ = std::move(content);
  }
  return allowed;
}

}  // namespace mdvol::crash
