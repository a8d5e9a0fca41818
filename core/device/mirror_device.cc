// See mirror_device.h.

#include "core/device/mirror_device.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/device/request_check.h"

namespace mdvol {
namespace {

// Appends `length_bytes` of the request's buffers, from `skip_bytes` on.
void AppendBuffers(const IoRequest& from, uint64_t skip_bytes, uint64_t length_bytes,
                   IoRequest* to) {
  for (const iovec& buffer : from.buffers) {
    if (skip_bytes >= buffer.iov_len) {
      skip_bytes -= buffer.iov_len;
      continue;
    }
    const uint64_t taken = std::min<uint64_t>(buffer.iov_len - skip_bytes, length_bytes);
    if (taken == 0) {
      return;
    }
    to->buffers.push_back({static_cast<std::byte*>(buffer.iov_base) + skip_bytes, taken});
    length_bytes -= taken;
    skip_bytes = 0;
  }
}

bool IsFull(int error) { return error == ENOSPC || error == EDQUOT; }

}  // namespace

uint32_t MirrorDevice::alignment_bytes() const {
  return std::max(original_.alignment_bytes(), replacement_.alignment_bytes());
}

// Null when there is nothing for the replacement to do.
std::unique_ptr<IoRequest> MirrorDevice::CopyFor(const IoRequest& request) const {
  if ((request.kind != IoKind::kWrite && request.kind != IoKind::kZero) ||
      replacement_error() != 0) {
    return nullptr;
  }
  const uint64_t area_begin = areas_.original_offset_bytes;
  const uint64_t begin = std::max(request.offset_bytes, area_begin);
  const uint64_t end =
      std::min(request.offset_bytes + request.length_bytes, area_begin + areas_.data_bytes);
  if (begin >= end) {
    return nullptr;
  }
  auto copy = std::make_unique<IoRequest>();
  copy->kind = request.kind;
  copy->offset_bytes = begin - area_begin + areas_.replacement_offset_bytes;
  copy->length_bytes = end - begin;
  copy->pieces = request.pieces;
  copy->is_sync = request.is_sync;
  AppendBuffers(request, begin - request.offset_bytes, copy->length_bytes, copy.get());
  return copy;
}

// What one of the two would refuse is refused before either has it; Wait finds the same again.
int MirrorDevice::Check(const IoRequest& request) const {
  return CheckRequest(request, {size_bytes(), alignment_bytes(), read_only()});
}

void MirrorDevice::Submit(IoRequest& request) {
  request.error = Check(request);
  if (request.error != 0) {
    return;
  }
  std::unique_ptr<IoRequest> copy = CopyFor(request);
  original_.Submit(request);
  if (copy == nullptr) {
    return;
  }
  replacement_.Submit(*copy);
  absl::MutexLock lock(&mutex_);
  copies_[&request] = std::move(copy);
}

void MirrorDevice::Wait(IoRequest& request) {
  if (Check(request) != 0) {
    return;
  }
  std::unique_ptr<IoRequest> copy;
  if (request.kind == IoKind::kWrite || request.kind == IoKind::kZero) {
    absl::MutexLock lock(&mutex_);
    if (const auto found = copies_.find(&request); found != copies_.end()) {
      copy = std::move(found->second);
      copies_.erase(found);
    }
  }
  original_.Wait(request);
  if (copy != nullptr) {
    replacement_.Wait(*copy);
    if (copy->error != 0) {
      NoteFailure(*copy);
    } else if (IsFull(request.error)) {
      NoteError(request.error);  // of the two only the replacement has the new bytes
    }
  }
}

// What lies beside bad blocks is written apart from them.
void MirrorDevice::NoteFailure(const IoRequest& copy) {
  const uint64_t begin = copy.offset_bytes;
  const uint64_t end = begin + copy.length_bytes;
  Run run = bad_blocks_.run(begin, end);
  if (run.end_bytes >= end) {
    NoteRun(run, copy.error);
    return;
  }
  for (uint64_t at = begin; at < end; at = run.end_bytes) {
    run = bad_blocks_.run(at, end);
    IoRequest part;
    part.kind = copy.kind;
    part.offset_bytes = at;
    part.length_bytes = run.end_bytes - at;
    part.is_sync = copy.is_sync;
    AppendBuffers(copy, at - begin, part.length_bytes, &part);
    replacement_.Submit(part);
    replacement_.Wait(part);
    NoteRun(run, part.error);
  }
}

void MirrorDevice::NoteRun(const Run& run, int error) {
  if (error != 0 && run.is_bad && !IsFull(error)) {
    bad_blocks_.still_bad();
  } else if (error != 0) {
    NoteError(error);
  }
}

void MirrorDevice::NoteError(int error) {
  int none = 0;
  replacement_error_.compare_exchange_strong(none, error, std::memory_order_acq_rel);
}

}  // namespace mdvol
