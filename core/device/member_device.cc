// See member_device.h.

#include "core/device/member_device.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/aligned_buffer.h"
#include "core/base/status.h"

namespace mdvol {
namespace {

const char* NameOf(IoKind kind) {
  switch (kind) {
    case IoKind::kRead:
      return "read";
    case IoKind::kWrite:
      return "write";
    case IoKind::kFlush:
      return "flush";
    case IoKind::kZero:
      return "zeroing";
  }
  return "";
}

absl::Status RunRequest(MemberDevice& device, IoRequest& request) {
  device.Submit(request);
  device.Wait(request);
  if (request.error == 0) {
    return absl::OkStatus();
  }
  std::string message = absl::StrCat(device.path(), ": ", NameOf(request.kind));
  if (request.kind != IoKind::kFlush) {
    absl::StrAppend(&message, " of ", request.length_bytes, " bytes at ", request.offset_bytes);
  }
  return SystemError(request.error, message);
}

absl::Status TransferMember(MemberDevice& device, IoKind kind, uint64_t offset_bytes, void* data,
                            size_t length_bytes) {
  IoRequest request;
  request.kind = kind;
  request.offset_bytes = offset_bytes;
  request.length_bytes = length_bytes;
  request.buffers.push_back({data, length_bytes});
  return RunRequest(device, request);
}

bool NeedsAlignedCopy(const MemberDevice& device, const void* data) {
  return reinterpret_cast<uintptr_t>(data) % device.alignment_bytes() != 0;
}

}  // namespace

absl::Status ReadMember(MemberDevice& device, uint64_t offset_bytes, void* data,
                        size_t length_bytes) {
  if (!NeedsAlignedCopy(device, data)) {
    return TransferMember(device, IoKind::kRead, offset_bytes, data, length_bytes);
  }
  AlignedBuffer copy(length_bytes);
  MDVOL_RETURN_IF_ERROR(
      TransferMember(device, IoKind::kRead, offset_bytes, copy.data(), length_bytes));
  std::memcpy(data, copy.data(), length_bytes);
  return absl::OkStatus();
}

absl::Status WriteMember(MemberDevice& device, uint64_t offset_bytes, const void* data,
                         size_t length_bytes) {
  if (!NeedsAlignedCopy(device, data)) {
    // iovec has one form for both directions; a write's buffer is only read.
    return TransferMember(device, IoKind::kWrite, offset_bytes, const_cast<void*>(data),
                          length_bytes);
  }
  AlignedBuffer copy(length_bytes);
  std::memcpy(copy.data(), data, length_bytes);
  return TransferMember(device, IoKind::kWrite, offset_bytes, copy.data(), length_bytes);
}

absl::Status FlushMember(MemberDevice& device) {
  IoRequest request;
  request.kind = IoKind::kFlush;
  return RunRequest(device, request);
}

absl::Status ZeroMember(MemberDevice& device, uint64_t offset_bytes, uint64_t length_bytes) {
  IoRequest request;
  request.kind = IoKind::kZero;
  request.offset_bytes = offset_bytes;
  request.length_bytes = length_bytes;
  return RunRequest(device, request);
}

}  // namespace mdvol
