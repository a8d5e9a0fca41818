// MemberDevice: the one seam between the engine and where bytes are kept. Files, block devices,
// memory, and decorators that count, fail or delay are all MemberDevices; the engine cannot tell
// them apart.
//
// Submit and complete. A thread submits requests, to any number of devices, and then waits for each
// of them: between the two the devices work side by side. A device that works inline (pread in
// Submit) has nothing left to do in Wait; an io_uring back end queues in Submit and reaps in Wait;
// a modelled disk sleeps in Wait. Every submitted request must be waited for exactly once, by the
// thread that submitted it; the request and its buffers must stay alive until then. Decorators do
// what comes before an I/O in Submit and what comes after it in Wait, passing the same request
// inward.
//
// Errors are per request, as positive errnos in IoRequest::error; a short transfer is EIO. Nothing
// throws. All methods are thread-safe; requests that overlap in bytes while one of them writes are
// the callers' race to avoid.

#ifndef MDVOL_CORE_DEVICE_MEMBER_DEVICE_H_
#define MDVOL_CORE_DEVICE_MEMBER_DEVICE_H_

#include <sys/uio.h>

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/device/sync_io.h"

namespace mdvol {

enum class IoKind : uint8_t {
  kRead,
  kWrite,
  kFlush,  // durable: all writes that completed before the submit (fdatasync); offset, length,
           // buffers unused
  kZero,   // the range reads as zeroes afterwards, its space given back where the member can; no
           // buffers
};

struct IoRequest {
  IoKind kind = IoKind::kRead;
  uint64_t offset_bytes = 0;  // absolute on the member, data offset included
  uint64_t length_bytes = 0;  // the sum of the buffers for kRead and kWrite
  absl::InlinedVector<iovec, 4> buffers;
  uint32_t pieces = 1;  // how many extents the batch joined to make this request (statistics)
  // A read that a reader waits for, for whose sake writes may be held back; not one of a write or
  // of a sync.
  bool serves_reader = true;
  // Made inside a SyncIoScope. What a decorator makes of a request has the request's mark: the
  // thread that passes it on may be anybody's.
  bool is_sync = SyncIoScope::IsInside();

  int error = 0;  // valid after Wait: 0 or an errno

  // For devices and decorators between Submit and Wait. One word per nesting level would not stack,
  // so a decorator keeps what it needs keyed by the request's address or derives it again from the
  // request.
  uint64_t device_word = 0;     // for the innermost device alone
  uint64_t started_ns = 0;      // for the counting decorator alone
  uint64_t admission_word = 0;  // for the admission decorator alone
  uint64_t ready_ns =
      0;  // for delaying decorators: the time before which Wait must not return (they take the max)
};

class MemberDevice {
 public:
  virtual ~MemberDevice() = default;

  // The path or another name by which a user knows the device.
  virtual const std::string& path() const = 0;
  virtual uint64_t size_bytes() const = 0;
  // Offsets, lengths and buffer addresses must be multiples of this: 1 where the OS does the
  // splitting (page cache, memory), the logical block size under O_DIRECT.
  virtual uint32_t alignment_bytes() const = 0;
  virtual bool read_only() const = 0;

  virtual void Submit(IoRequest& request) = 0;
  virtual void Wait(IoRequest& request) = 0;

  // The start of the first range at or after `offset_bytes` that may hold anything but a hole;
  // size_bytes() when there is none. Devices without holes answer `offset_bytes`.
  virtual absl::StatusOr<uint64_t> NextData(uint64_t offset_bytes) = 0;
  // The start of the first hole at or after `offset_bytes`, size_bytes() when there is none.
  virtual absl::StatusOr<uint64_t> NextHole(uint64_t offset_bytes) = 0;
};

// Conveniences for cold paths (metadata, create, tests): one request, submitted and waited for.
// `data` may lie at any address: a copy is made where the device wants it aligned. Errors name the
// path, the operation, the offset and the length.
absl::Status ReadMember(MemberDevice& device, uint64_t offset_bytes, void* data,
                        size_t length_bytes);
absl::Status WriteMember(MemberDevice& device, uint64_t offset_bytes, const void* data,
                         size_t length_bytes);
absl::Status FlushMember(MemberDevice& device);
absl::Status ZeroMember(MemberDevice& device, uint64_t offset_bytes, uint64_t length_bytes);

}  // namespace mdvol

#endif  // MDVOL_CORE_DEVICE_MEMBER_DEVICE_H_
