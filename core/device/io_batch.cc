// See io_batch.h.

#include "core/device/io_batch.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/device/sync_io.h"

namespace mdvol {
namespace {

// absl's clear() gives the memory back; this keeps it.
template <typename Vector>
void Empty(Vector& vector) {
  vector.erase(vector.begin(), vector.end());
}

}  // namespace

bool IoBatch::DoesNothing(const Extent& extent) {
  return extent.length_bytes == 0 && extent.kind != IoKind::kFlush;
}

size_t IoBatch::Add(const Extent& extent) {
  extents_.push_back(extent);
  return extents_.size() - 1;
}

size_t IoBatch::AddRead(MemberDevice* device, uint64_t offset_bytes, std::byte* data,
                        size_t length_bytes, Joining joining) {
  return Add({device, offset_bytes, length_bytes, data, IoKind::kRead, joining});
}

size_t IoBatch::AddWrite(MemberDevice* device, uint64_t offset_bytes, const std::byte* data,
                         size_t length_bytes) {
  // iovec has one form for both directions; a write's buffers are only read.
  return Add({device, offset_bytes, length_bytes, const_cast<std::byte*>(data), IoKind::kWrite});
}

size_t IoBatch::AddZero(MemberDevice* device, uint64_t offset_bytes, uint64_t length_bytes) {
  return Add({device, offset_bytes, length_bytes, nullptr, IoKind::kZero});
}

size_t IoBatch::AddFlush(MemberDevice* device) {
  return Add({device, 0, 0, nullptr, IoKind::kFlush});
}

void IoBatch::Clear() {
  Empty(extents_);
  Empty(order_);
  Empty(first_);
  request_count_ = 0;
}

bool IoBatch::Run() {
  if (extents_.size() == 1) {
    RunAlone(extents_[0]);
    return extents_[0].error == 0;
  }
  RankDevices();
  SortExtents();
  PlanRequests();
  for (size_t r = 0; r < request_count_; ++r) {
    OrderedExtent(first_[r]).device->Submit(requests_[r]);
  }
  for (size_t r = 0; r < request_count_; ++r) {
    OrderedExtent(first_[r]).device->Wait(requests_[r]);
  }
  return CollectErrors();
}

void IoBatch::RunAlone(Extent& extent) const {
  if (DoesNothing(extent)) {
    return;
  }
  IoRequest request;
  request.kind = extent.kind;
  request.serves_reader = serves_readers_;
  request.offset_bytes = extent.offset_bytes;
  request.length_bytes = extent.length_bytes;
  AddBuffer(request, extent);
  extent.device->Submit(request);
  extent.device->Wait(request);
  extent.error = request.error;
}

void IoBatch::AddBuffer(IoRequest& request, const Extent& extent) {
  if (extent.kind != IoKind::kRead && extent.kind != IoKind::kWrite) {
    return;
  }
  if (!request.buffers.empty()) {
    iovec& last = request.buffers.back();
    if (static_cast<std::byte*>(last.iov_base) + last.iov_len == extent.data) {
      last.iov_len += extent.length_bytes;
      return;
    }
  }
  request.buffers.push_back({extent.data, extent.length_bytes});
}

// Batches go round the members again and again, so the member after the last one is tried first.
void IoBatch::RankDevices() {
  Empty(devices_);
  size_t guess = 0;
  for (Extent& extent : extents_) {
    if (guess >= devices_.size() || devices_[guess] != extent.device) {
      guess = static_cast<size_t>(std::find(devices_.begin(), devices_.end(), extent.device) -
                                  devices_.begin());
    }
    if (guess == devices_.size()) {
      devices_.push_back(extent.device);
    }
    extent.rank = static_cast<uint32_t>(guess);
    ++guess;
  }
}

// Members are told apart by rank, in two passes; what is left to sort is a member's own extents,
// and those are mostly added in ascending order.
void IoBatch::SortExtents() {
  PlaceExtentsByRank();
  const auto comes_before = [this](uint32_t a, uint32_t b) {
    return extents_[a].offset_bytes < extents_[b].offset_bytes;
  };
  auto begin = order_.begin();
  for (const uint32_t rank_end : rank_ends_) {
    const auto end = order_.begin() + rank_end;
    if (!std::is_sorted(begin, end, comes_before)) {
      std::sort(begin, end, comes_before);
    }
    begin = end;
  }
}

// Fills order_ by rank and, within a rank, as the extents were added.
void IoBatch::PlaceExtentsByRank() {
  const auto device_count = static_cast<uint32_t>(devices_.size());
  Empty(rank_ends_);
  rank_ends_.resize(2 * size_t{device_count}, 0);
  for (Extent& extent : extents_) {
    extent.error = 0;
    if (extent.kind == IoKind::kFlush) {
      extent.rank += device_count;
    }
    if (!DoesNothing(extent)) {
      ++rank_ends_[extent.rank];
    }
  }
  uint32_t total = 0;
  for (uint32_t& rank_end : rank_ends_) {
    total += std::exchange(rank_end, total);  // where the rank begins
  }
  order_.resize(total);
  for (uint32_t i = 0; i < extents_.size(); ++i) {
    if (!DoesNothing(extents_[i])) {
      order_[rank_ends_[extents_[i].rank]++] = i;
    }
  }
}

void IoBatch::PlanRequests() {
  Empty(first_);
  request_count_ = 0;
  const Extent* previous = nullptr;
  for (uint32_t i = 0; i < order_.size(); ++i) {
    const Extent& extent = extents_[order_[i]];
    bool joins = false;
    if (previous != nullptr && previous->rank == extent.rank) {
      const uint64_t distance_bytes = extent.offset_bytes - previous->offset_bytes;
      // For flushes, of length 0 at offset 0, both hold.
      MDVOL_CHECK(distance_bytes >= previous->length_bytes);  // extents of a batch do not overlap
      joins = distance_bytes == previous->length_bytes && previous->kind == extent.kind &&
              extent.joining == Joining::kJoins;
    }
    if (joins) {
      IoRequest& request = requests_[request_count_ - 1];
      request.length_bytes += extent.length_bytes;
      ++request.pieces;
      AddBuffer(request, extent);
    } else {
      first_.push_back(i);
      BeginRequest(extent);
    }
    previous = &extent;
  }
  first_.push_back(static_cast<uint32_t>(order_.size()));
}

void IoBatch::BeginRequest(const Extent& extent) {
  if (request_count_ == requests_.size()) {
    requests_.emplace_back();
  }
  IoRequest& request = requests_[request_count_++];
  request.kind = extent.kind;
  request.offset_bytes = extent.offset_bytes;
  request.length_bytes = extent.length_bytes;
  Empty(request.buffers);
  request.pieces = 1;
  request.error = 0;
  request.device_word = 0;
  request.started_ns = 0;
  request.ready_ns = 0;
  request.admission_word = 0;
  request.serves_reader = serves_readers_;
  request.is_sync = SyncIoScope::IsInside();  // of this run, not of the one that made the request
  AddBuffer(request, extent);
}

bool IoBatch::CollectErrors() {
  bool is_ok = true;
  for (size_t r = 0; r < request_count_; ++r) {
    const IoRequest& request = requests_[r];
    if (request.error == 0) {
      continue;
    }
    const bool is_retried = request.pieces > 1 && request.kind != IoKind::kFlush;
    for (size_t i = first_[r]; i < first_[r + 1]; ++i) {
      Extent& extent = OrderedExtent(i);
      if (is_retried) {
        RunAlone(extent);
      } else {
        extent.error = request.error;
      }
      is_ok = is_ok && extent.error == 0;
    }
  }
  return is_ok;
}

}  // namespace mdvol
